"""Runs a registry of images on loopback: that of go-containerregistry's crane, which keeps all in memory."""

import contextlib
import re
import subprocess
import time

from testing.cluster.rig import versions
from testing.processes import Failed, dying_with_parent

_PATIENCE_S = 10.0


def crane():
    """Returns the path of the program. Raises Failed if tools/install.sh --release has not built it."""
    found = sorted(versions.cache().glob("crane-*/crane"))
    if not found:
        raise Failed(f"{versions.cache()}/crane-*: expected crane, got none: tools/install.sh --release")
    return found[-1]


def missing():
    """Returns what is missing for a registry, or ""."""
    try:
        crane()
    except Failed as failed:
        return str(failed)
    return ""


@contextlib.contextmanager
def serving(port=0, within=lambda command: command):
    """Serves while the context lasts, on a free port or on the one that is given. `within` returns the command that
    runs another in a namespace. Yields host and port."""
    command = dying_with_parent(within([str(crane()), "registry", "serve", "--address", f"127.0.0.1:{port}"]))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        try:
            yield f"127.0.0.1:{_port(process)}"
        finally:
            process.kill()


def _port(process):
    """Returns the port that the registry names once it serves."""
    end, said = time.monotonic() + _PATIENCE_S, ""
    while time.monotonic() < end:
        line = process.stdout.readline()
        said += line
        if found := re.search(r"serving on port (\d+)", line):
            return found[1]
        if not line:
            break
    raise Failed(f"registry: expected it to serve, got: {said.strip()[-500:]}")
