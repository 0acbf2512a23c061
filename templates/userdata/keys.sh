
# Options of [%SECTION%], where they were or at its end; those without = go.
set_keys() {
  edit '
  END {
    many = split(ENVIRON["BODY"], text, "\n")
    for (k = 1; k <= many; k++) { name[k] = text[k]; if (sub(/=.*/, "", name[k])) value[name[k]] = text[k] "\n"; else value[name[k]] }
    if (ENVIRON["OPEN"]) sub(/\n$/, "", line[NR])
    for (i = 1; i <= NR; i++) {
      l = line[i]; key = ""; more = l ~ /^[ \t]+[^ \t\r\n]/
      if (head = l ~ /^\[.*\][ \t\r\n]*$/) nth += inside = trim(l) == "[%SECTION%]"
      else if (inside && l ~ /^[^ \t#;\r\n=][^=]*=/) key = trim(substr(l, 1, index(l, "=") - 1))
      if (key in value) { drop = 1; if (!seen[key]++ && value[key]) out[++n] = value[key] }
      else if (!drop || !more) { out[++n] = l; drop = 0 }
      if (inside && nth == 1 && (head || key != "" || more)) end = n
    }
    if (!nth) { if (n) out[n] = end_line(out[n]); out[end = ++n] = "[%SECTION%]\n" }
    for (k = 1; k <= many; k++) if (!seen[name[k]] && value[name[k]]) out[end] = end_line(out[end]) value[name[k]]
    for (i = 1; i <= n; i++) printf "%s", out[i]
  }
  function end_line(l) { return l ~ /\n$/ ? l : l "\n" }'
}
