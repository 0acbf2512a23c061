
if [ ! -x "$program" ] || [ "$failed" -ne 0 ]; then
  say "$program does not run: it is not there, or its configuration cannot be written"
  exit 1
fi
unset EKSPROXY_BOUND EKSPROXY_ROOT
exec "$program" node apply --config "$root/etc/eksproxy/config.yaml" ${root:+--root "$root"}
