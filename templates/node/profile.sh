# Written by eksproxy (format 1). Change eksproxy's configuration, not this
# file: "eksproxy node apply" replaces it, "eksproxy node revert" removes it.
# It gives login shells the whole NO_PROXY, which PAM of Amazon Linux 2 cuts in
# /etc/environment.
