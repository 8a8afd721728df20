"""Runs syft and cosign, which `tools/install.sh --release` builds. Neither asks a service."""

import re
import shutil
import subprocess
from pathlib import Path

from testing.cluster.rig.versions import cache
from tools.refused import Refused

TREE = Path(__file__).resolve().parents[2]
_INSTALL = TREE / "tools/install"


def version(name):
    """Returns the version that tools/install pins."""
    installer = (_INSTALL / "trust.sh").read_text(encoding="utf-8")
    return re.search(rf"{name}_default=([0-9.]+)", installer)[1]


def program(name):
    """Returns the path of syft or cosign: the one that the installer built, else one in PATH. Raises Refused where
    there is none."""
    built = cache() / f"{name}-{version(name)}" / name
    found = str(built) if built.exists() else shutil.which(name)
    if not found:
        raise Refused(f"{name}: expected {built} or one in PATH, got none: tools/install.sh --release")
    return found


def run(name, *words, home, folder=None, password=""):
    """Runs a program in a folder, by default its home. The home is the caller's, so that no user's settings count.
    Returns (exit code, its messages)."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home), "COSIGN_PASSWORD": password,
                   "SYFT_CHECK_FOR_APP_UPDATE": "false", "SYFT_FILE_METADATA_SELECTION": "all"}
    done = subprocess.run([program(name), *map(str, words)], cwd=folder or home, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, (done.stderr or done.stdout).strip()


def of_last_commit(form):
    """Returns what `git log` prints of the last commit in that form."""
    return subprocess.run(["git", "log", "-1", f"--format={form}"], cwd=TREE, capture_output=True, text=True,
                          check=True).stdout.strip()


def last_line(messages):
    return messages.splitlines()[-1] if messages else "no message"
