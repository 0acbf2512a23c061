
# The installed runtime, else both.
units=
for unit in containerd docker; do
  for dir in /etc /run /usr/lib /lib; do
    [ ! -e "$root$dir/systemd/system/$unit.service" ] || units="$units $unit"
  done
done
