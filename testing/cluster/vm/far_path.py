"""Names a file of a virtual machine and does there what pathlib.Path does here."""

import json
import subprocess
from pathlib import PurePosixPath

from testing.processes import Failed

_DOES = """
import json, pathlib, sys
path, method, positional, named = json.loads(sys.argv[1])
try:
    answer = getattr(pathlib.Path(path), method)(*positional, **named)
except OSError as failure:
    sys.exit(str(failure))
print(json.dumps([str(each) for each in answer] if method in ("glob", "iterdir", "rglob") else answer))
"""


class FarPath:
    """A FarPath names a file of a node. `enter` is the node's: it makes a command that runs there."""

    def __init__(self, enter, path):
        self._enter, self._path = enter, PurePosixPath(path)

    def __str__(self):
        return str(self._path)

    def __truediv__(self, name):
        return FarPath(self._enter, self._path / name)

    @property
    def name(self):
        return self._path.name

    @property
    def parent(self):
        return FarPath(self._enter, self._path.parent)

    def exists(self):
        return self._do("exists")

    def is_dir(self):
        return self._do("is_dir")

    def is_socket(self):
        return self._do("is_socket")

    def iterdir(self):
        return [FarPath(self._enter, each) for each in self._do("iterdir")]

    def rglob(self, pattern):
        return [FarPath(self._enter, each) for each in self._do("rglob", pattern)]

    def mkdir(self, parents=False, exist_ok=False):
        self._do("mkdir", parents=parents, exist_ok=exist_ok)

    def chmod(self, mode):
        self._do("chmod", mode)

    def unlink(self):
        self._do("unlink")

    def read_text(self, encoding=None):
        return self._do("read_text", encoding=encoding)

    def write_text(self, text, encoding=None):
        return self._do("write_text", text, encoding=encoding)

    def _do(self, method, *positional, **named):
        wanted = json.dumps([str(self._path), method, positional, named])
        done = subprocess.run(self._enter(["/usr/bin/python3", "-c", _DOES, wanted]), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise Failed(f"{method} of {self._path}: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout)
