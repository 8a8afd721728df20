"""Finds NVIDIA's programs in the cache, and has those unpacked that are missing (tools/install/referee.sh)."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "install" / "referee.sh"
_LIBRARIES = "usr/lib/x86_64-linux-gnu/nvidia/current"
_TIMEOUT_S = 240


@dataclass(frozen=True)
class Binary:
    """A Binary is an unpacked package: the version of it that was asked for, and the one that was had."""

    package: str
    asked: str
    version: str
    folder: Path

    @property
    def major(self):
        return int(self.version.split(".")[0])

    @property
    def libraries(self):
        """Returns the folder of its libraries."""
        return self.folder / _LIBRARIES

    @property
    def control(self):
        """Returns the control program of MPS."""
        return self.folder / "usr/bin/nvidia-cuda-mps-control"

    @property
    def server(self):
        """Returns the program of MPS's servers."""
        return self.folder / "usr/sbin/nvidia-cuda-mps-server"

    def __str__(self):
        replaced = "" if self.version == self.asked else f" (in place of {self.asked})"
        return f"{self.package} {self.version}{replaced}"


def find(**environment):
    """Returns (list of Binary, complaints). The complaints are "" if all that is pinned could be had, and if
    nothing stands in another's place."""
    done = subprocess.run([str(TOOL)], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=_TIMEOUT_S, check=False)
    rows = [line.split(" ", 3) for line in done.stdout.splitlines()]
    found = [Binary(package, asked, version, Path(folder)) for package, asked, version, folder in rows]
    if done.returncode == 0:
        return found, ""
    return found, done.stderr.strip() or f"{TOOL} ended with {done.returncode}"
