
# Never wait for a unit: it may wait for cloud-init. What runs with another
# environment is restarted, not %BUT%.
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload || failed=1
  for unit in %UNITS%; do
    pid=$(systemctl show -p MainPID "$unit") pid=${pid#MainPID=}
    [ -r "/proc/$pid/environ" ] || continue
    same=$(tr '\0' '\n' <"/proc/$pid/environ" | grep -cFxf %ENV%)
    if [ "$same" -lt 6 ] || [ -n "${trusted:-}" ]; then
      systemctl --no-block try-restart "$unit" || failed=1
    fi
  done
fi
