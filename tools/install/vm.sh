#!/usr/bin/env bash
# Makes the virtual machine that tests/cluster/node/test_cgroup_v2.py runs as a node, in
# ${CROSSOVER_CACHE:-~/.cache/crossover}/vm-debian-12: a kernel, its initrd, and a disk with the packages of
# tools/install/vm-debian-12.txt. qemu is installed. It needs root, and once some minutes; it is quick when nothing is
# missing, and safe to run twice at once.
#
#   tools/install/vm.sh           install
#   tools/install/vm.sh --check   change nothing: exit 1 and say what is missing
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly packages=$here/vm-debian-12.txt
readonly made=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/vm-debian-12
readonly disk_size=6G  # the packages take 0.8 of it; the rest is there for images of tests

# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"

listed() { sed -n -E "s/^$1([a-z0-9.+-]+)\$/\\1/p" "$packages"; }

# The disk is made from this list and by this script.
recipe() { cat "$packages" "${BASH_SOURCE[0]}"; }

# prepare_kernel ROOT has the initrd made of the few modules that find the disk: it starts sooner.
prepare_kernel() {
  mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"
  echo MODULES=list > "$1/etc/initramfs-tools/conf.d/crossover"
  printf '%s\n' virtio_pci virtio_blk ext4 > "$1/usr/share/initramfs-tools/modules.d/crossover"
}

# prepare_start ROOT has the system run start.sh of the folder that the test hands to it, and no more than it must.
prepare_start() {
  cat > "$1/etc/systemd/system/crossover-setup.service" << 'UNIT'
[Unit]
Description=Runs what the test outside of this virtual machine wants
After=dbus.socket systemd-udev-trigger.service

[Service]
ExecStart=/bin/sh -c 'mkdir -p /mnt/setup && mount -t 9p -o trans=virtio,version=9p2000.L setup /mnt/setup && exec sh /mnt/setup/start.sh'
StandardOutput=journal+console
StandardError=journal+console

[Install]
WantedBy=multi-user.target
UNIT
  chroot "$1" systemctl --quiet enable crossover-setup.service
  chroot "$1" systemctl --quiet mask getty@tty1.service serial-getty@ttyS0.service apt-daily.timer \
    apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service
}

make_machine() {
  local work=$made.part root
  root=$work/root
  ! cmp -s <(recipe) "$made/.made" || return 0
  if [[ $mode == --check ]]; then
    say "missing or outdated: $made (tools/install.sh --matrix makes it)"
    return 1
  fi
  say "making the virtual machine in $made"
  rm -rf "$work" && mkdir -p "$work" || return 1
  # The kernel's settings have to be there before its package is.
  mmdebstrap --quiet --variant=minbase --include="$(listed 'inside ' | tr '\n' ',')" \
    --setup-hook="$here/vm.sh --prepare-kernel \"\$1\"" bookworm "$root" 2> >(grep -v '^W: ' >&2) || return 1
  prepare_start "$root"
  cp -L "$root/vmlinuz" "$work/vmlinuz" && cp -L "$root/initrd.img" "$work/initrd.img" || return 1
  mke2fs -q -t ext4 -d "$root" "$work/disk.img" "$disk_size" && rm -rf "$root" || return 1
  recipe > "$work/.made" && rm -rf "$made" && mv "$work" "$made"
}

mode=${1:-}
case $mode in
  "" | --check) ;;
  --prepare-kernel)  # mmdebstrap calls it
    prepare_kernel "$2"
    exit
    ;;
  *)
    say "argument: expected none or --check, got '$mode'"
    exit 2
    ;;
esac
status=0
listed '' | install_packages || status=1
if [[ $mode != --check ]]; then
  mkdir -p "$(dirname "$made")"
  exec 9> "$made.lock"
  flock 9
fi
make_machine || status=1
exit $status
