
# edit PROGRAM: the file with standard input put into it by awk.
edit() {
  BODY=$(cat) OPEN=
  export BODY OPEN
  [ -e "$file" ] || set -- "$1" /dev/null
  if tail -c 1 "${2:-$file}" | grep -q .; then OPEN=1; fi
  awk 'function trim(l) { sub(/[ \t\r\n]+$/, "", l); return l }
  { line[NR] = $0 "\n" }'"$1" "${2:-$file}"
}
