
  function hex(s,   i, v) {
    for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
    return v + 0
  }
  /:/ {
    s = tolower($0)
    sub(/\r$/, "", s)
    if (s !~ /^[0-9a-f:]+\/[1-9][0-9]*$/ || split(s, p, "/") != 2 || p[2] < 16 || p[2] > 128) exit bad = 1
    if (i = index(p[1], "::")) {
      l = split(substr(p[1], 1, i - 1), g, ":")
      r = split(substr(p[1], i + 2), h, ":")
      if (l + r > 7) exit bad = 1
      for (i = l + 1; i <= 8; i++) g[i] = i > 8 - r ? h[i - 8 + r] : "0"
    } else if (split(p[1], g, ":") != 8) exit bad = 1
    key = text = ""
    most = first = run = 0
    for (i = 1; i <= 8; i++) {
      if (g[i] == "" || length(g[i]) > 4) exit bad = 1
      v[i] = hex(g[i])
      keep = p[2] - 16 * (i - 1)
      v[i] -= v[i] % (keep <= 0 ? 65536 : keep >= 16 ? 1 : 2 ^ (16 - keep))
      key = key sprintf("%04x", v[i])
      run = v[i] ? 0 : run + 1
      if (run > 1 && run > most) { most = run; first = i - run + 1 }
    }
    for (i = 1; i <= 8; i++)
      if (most && i == first) { text = text "::"; i += most - 1 }
      else text = text (text == "" || text ~ /:$/ ? "" : ":") sprintf("%x", v[i])
    printf "6%s%03d %s/%d\n", key, p[2], text, p[2]
  }
