"""Tests programs that have nothing to do with GPUs, in a container with the library in /etc/ld.so.preload: a shell,
git, and a command that is run through sshd. It needs root, for mount and network namespaces of their own."""

import contextlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.frameworks import under

_UNPACKED = under.CACHE / "unpacked"
_GIT = """
set -e
cd "$1"
git init -q -b main one
cd one
git config user.name test
git config user.email test@example.com
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
for i in 1 2 3; do seq $i > file; git add file; git commit -q -m "change $i"; done
cd ..
git clone -q one two
git -C two log --format='%h %s'
git -C two fsck --strict
"""
_SHELL = """
set -o pipefail
for i in $(seq 50); do (exit $((i % 3))) || true; done
seq 1000 | sort -rn | awk '{s += $1} END {print s}' | tee /dev/stderr | md5sum
trap 'echo ended' EXIT
exec 3<&0
ls -l /proc/self/fd | awk '{print $9}'
"""
_SSHD = """
set -e
cd "$1"
ip link set lo up
mkdir -p run/sshd
mount --bind run /run
ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ed25519 -N '' -f user
grep -q ^sshd: /etc/passwd || echo sshd:x:110:65534::/run/sshd:/usr/sbin/nologin >> /etc/passwd
"$SSHD" -f /dev/null -h "$1/host" -p 2222 -o ListenAddress=127.0.0.1 -o StrictModes=no \
  -o AuthorizedKeysFile="$1/user.pub" -o PidFile="$1/pid" -o UsePAM=no -o PermitRootLogin=yes
trap 'kill "$(cat pid)"' EXIT
ssh -q -i user -p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@127.0.0.1 \
  'echo out; echo err >&2; ls /proc/self/fd | wc -l; grep -c libcrossover /proc/self/maps; exit 7' || echo "status $?"
"""


class Programs(unittest.TestCase):

    def setUp(self):
        if not under.LIBRARY.exists():
            self.fail(f"no {under.LIBRARY}: build crossover_portable")
        if os.geteuid() != 0:
            self.fail("needs root, for namespaces")

    @contextlib.contextmanager
    def container(self, preloaded):
        """Returns a context that gives (command prefix, directory to work in). It has mounts of its own, with the file
        that a pod gets."""
        with tempfile.TemporaryDirectory(prefix="crossover-programs.") as directory:
            place = Path(directory)
            for name in ("upper", "work", "home"):
                (place / name).mkdir()
            (place / "upper" / "ld.so.preload").write_text(f"{under.LIBRARY}\n" if preloaded else "")
            mount = (f"mount -t tmpfs tmpfs {place}/work && mkdir {place}/work/upper {place}/work/work && "
                     f"cp {place}/upper/ld.so.preload {place}/work/upper && mount -t overlay overlay "
                     f"-o lowerdir=/etc,upperdir={place}/work/upper,workdir={place}/work/work /etc && exec \"$@\"")
            yield ["unshare", "--mount", "--net", "--", "sh", "-c", mount, "sh"], place / "home"

    def said(self, script, preloaded):
        with self.container(preloaded) as (prefix, home):
            environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C", "CROSSOVER_GANG": "a",
                           "CROSSOVER_SOCKET": "/nonexistent/arbiter.sock",
                           "SSHD": str(_UNPACKED / "usr/sbin/sshd"),
                           "LD_LIBRARY_PATH": str(_UNPACKED / "usr/lib/x86_64-linux-gnu")}
            done = subprocess.run([*prefix, "bash", "-c", script, "bash", str(home)], env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, done.stdout, done.stderr

    def assert_unharmed(self, script):
        plain, hooked = self.said(script, False), self.said(script, True)
        self.assertEqual(plain[0], 0, plain)
        self.assertEqual(hooked, plain)
        return plain[1]

    def test_it_is_really_there(self):
        look = "grep -q libcrossover /proc/self/maps && echo there || echo absent"
        self.assertEqual([self.said(look, preloaded)[1] for preloaded in (True, False)], ["there\n", "absent\n"])

    def test_bash(self):
        self.assertIn("500500", self.assert_unharmed(_SHELL) + self.said(_SHELL, True)[2])

    def test_git(self):
        self.assertIn("change 3", self.assert_unharmed(_GIT))

    def test_a_command_through_sshd_has_the_library_and_does_not_notice(self):
        plain, hooked = self.said(_SSHD, False), self.said(_SSHD, True)
        self.assertEqual(plain[0], 0, plain)
        self.assertEqual(plain[1].splitlines()[-1], "status 7")
        self.assertEqual(hooked[0], 0, hooked)
        lines = hooked[1].splitlines()
        self.assertGreater(int(lines.pop(2)), 0, "the library is in the command's own process")
        self.assertEqual((lines, hooked[2]), (plain[1].splitlines()[:2] + plain[1].splitlines()[3:], plain[2]))


if __name__ == "__main__":
    unittest.main()
