
# PAM reads %LIMIT% bytes of NO_PROXY in /etc/environment: whole entries are left
# out there, star forms first, then .x beside x, then the user's, then any.
fitted=$(FIXED=$fixed LIST=$no_proxy awk 'BEGIN {
  n = split(ENVIRON["LIST"], e, ","); fixed = split(ENVIRON["FIXED"], f, ",")
  size = length(ENVIRON["LIST"])
  for (step = 1; step <= 4; step++)
    for (i = n; i >= 1 && size > %LIMIT%; i--) {
      ok = step == 4 || step == 3 && i > fixed || step == 1 && e[i] ~ /^\*\./
      if (step == 2 && e[i] ~ /^\./)
        for (j = 1; j <= n; j++) if (!gone[j] && tolower(e[j]) == tolower(substr(e[i], 2))) ok = 1
      if (ok && !gone[i]) { gone[i] = 1; size -= length(e[i]) + 1 }
    }
  for (i = 1; i <= n; i++) if (!gone[i]) { printf "%s%s", comma, e[i]; comma = "," }
}')
