#!/usr/bin/env bash
# Runs a command so that the kernel starts programs of aarch64 by an emulator: tools/emulate.sh COMMAND... It works on a
# machine of another architecture, as root, and needs qemu-user-static and Linux 6.7. The emulator is registered in a
# user namespace of the command's own, in which all users are as they are outside. The machine stays as it is.
set -euo pipefail

readonly interpreter=/usr/bin/qemu-aarch64-static
readonly magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
readonly mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

say() { printf 'emulate: %s\n' "$*" >&2; }

# Is run in the new namespaces: waits until their users are mapped.
if [[ ${1:-} == --within ]]; then
  read -r _ < "$2"
  shift 2
  if ! mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; then
    say "expected a kernel with binfmt_misc for each user namespace (6.7), got $(uname -r)"
    exit 1
  fi
  # F: the emulator is opened now, so that it is there in any root. P: programs see the name that they were called by.
  printf '%s' ":aarch64:M::$magic:$mask:$interpreter:FP" > /proc/sys/fs/binfmt_misc/register
  exec "$@"
fi

if (($# == 0)); then
  say "usage: tools/emulate.sh COMMAND..."
  exit 2
fi
if [[ ! -x $interpreter ]]; then
  say "$interpreter: expected an emulator, got none: tools/install.sh"
  exit 1
fi
if [[ $(id -u) != 0 ]]; then
  say "user: expected root, got $(id -un)"
  exit 1
fi
# The command takes the place of this process, so that signals reach it. Another process maps its users, which the kernel
# lets only one do that has rights outside.
work=$(mktemp -d)
mkfifo "$work/mapped" "$work/entered"
readonly work self=$$
(
  trap 'rm -rf "$work"' EXIT
  read -r _ < "$work/entered"
  for map in uid_map gid_map; do echo '0 0 4294967295' > "/proc/$self/$map"; done
  echo > "$work/mapped"
) < /dev/null > /dev/null &
# shellcheck disable=SC2016  # the inner shell expands its arguments
exec unshare --user --mount bash -c 'echo > "$1"; shift; exec "$@"' - "$work/entered" "${BASH_SOURCE[0]}" --within \
  "$work/mapped" "$@"
