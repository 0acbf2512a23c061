
# Our block, where it was or at the end. Lines behind it that set the same go:
# the last one wins.
set_block() {
  edit '
  function sets(l) { return l ~ /^[ \t]*(export )?[ \t]*(HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy)[ \t]*=/ }
  function ours() { printf "%s", b "\n" ENVIRON["BODY"] "\n" e "\n" }
  END {
    b = "# BEGIN eksproxy"; e = "# END eksproxy"
    for (i = 1; i <= NR; i++) {
      l = line[i]
      if (trim(l) == b) {
        for (j = i + 1; j <= NR && trim(line[j]) != b && trim(line[j]) != e; j++);
        if (j <= NR && trim(line[j]) == e) i = j
        else while (i < NR && sets(line[i + 1])) i++
        if (!found++) ours()
      } else if (!found || !sets(l)) {
        if (found && i == NR && ENVIRON["OPEN"]) sub(/\n$/, "", l)
        printf "%s", l
      }
    }
    if (!found) ours()
  }'
}
