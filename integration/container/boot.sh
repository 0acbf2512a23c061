# Boots a node. It is process 1 of a namespace for processes and of one for
# mounts, so that nothing of the node outlives it.
#
#   boot.sh NAME ROOT DIR NETNS [NSPAWN OPTION...]
set -eu
name=$1 root=$2 dir=$3 netns=$4
shift 4

# A hierarchy as on AL2023: cgroup v2 alone.
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$name"
echo 0 >"/sys/fs/cgroup/$name/cgroup.procs"

# What nspawn leaves behind about a node that was killed goes with the mount.
mkdir -p /run/systemd/nspawn
mount -t tmpfs tmpfs /run/systemd/nspawn

mount -t overlay overlay -o "lowerdir=$root,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
# A node may set up its network, and containers in it need keys.
systemd-nspawn --quiet --directory="$dir/root" --boot --register=no --keep-unit \
  --network-namespace-path="/run/netns/$netns" --machine="$name" --hostname=node \
  --console=read-only --tmpfs=/var/lib/containerd:mode=0711 \
  --capability=CAP_NET_ADMIN --system-call-filter="@keyring bpf" \
  --resolv-conf=off --timezone=off --link-journal=no "$@" \
  </dev/null >>"$dir/console.log" 2>&1
exit $?
