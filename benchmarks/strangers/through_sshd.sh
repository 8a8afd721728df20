#!/bin/bash
# Starts a command through sshd, as MPI's launchers do: `through_sshd.sh SYSTEM COMMAND...`. SYSTEM is the folder where
# openssh-client, openssh-server and libwrap0 are unpacked. The connection is a pipe, so it needs no network. The command
# has what sshd and its shell make of the environment, and what the software GPU needs. /etc and /run must be the caller's
# own.
set -e
system=$1
shift
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT
mkdir -p /run/sshd
for key in host user; do "$system/usr/bin/ssh-keygen" -q -t ed25519 -N '' -f "$keys/$key"; done
grep -q '^sshd:' /etc/passwd || echo 'sshd:x:110:65534::/run/sshd:/usr/sbin/nologin' >>/etc/passwd
[ -e /etc/shadow ] || echo 'root:NP:19000:0:99999:7:::' >/etc/shadow # without it, sshd takes root for locked
kept=()
for name in $(compgen -e | grep -E '^(SIMGPU_|LD_LIBRARY_PATH$)'); do kept+=("$name=${!name}"); done
serve="env LD_LIBRARY_PATH=$system/usr/lib/$(uname -m)-linux-gnu $system/usr/sbin/sshd -i -f /dev/null -h $keys/host \
-o UsePAM=no -o PermitRootLogin=yes -o StrictModes=no -o AuthorizedKeysFile=$keys/user.pub"
"$system/usr/bin/ssh" -q -F /dev/null -i "$keys/user" -o "ProxyCommand=$serve" -o BatchMode=yes \
  -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@pod "env $(printf '%q ' "${kept[@]}" "$@")"
