"""Gives older revisions of the tree from its history, for controls."""

import contextlib
import re
import subprocess
import tempfile
from pathlib import Path

from testing.processes import Failed

TOP = Path(__file__).resolve().parent.parent


@contextlib.contextmanager
def tree_of(revision, *paths):
    """Yields a directory with a revision: these paths of it, or all of it without. Raises Failed where the history
    does not have the revision."""
    with tempfile.TemporaryDirectory(prefix="crossover-older-") as folder:
        git = subprocess.run(["git", "-C", str(TOP), "archive", revision, *paths], capture_output=True, check=False)
        if git.returncode != 0:
            raise Failed(f"git archive {revision}: {git.stderr.decode(errors='replace').strip()}")
        subprocess.run(["tar", "-x", "-C", folder], input=git.stdout, check=True)
        yield Path(folder)


def cached(build, name):
    """Returns a variable of a build's configuration. Raises Failed where it has none."""
    cache = build.top / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.+)$", cache.read_text(encoding="utf-8") if cache.exists() else "", re.MULTILINE)
    if found is None:
        raise Failed(f"{cache}: expected a line {name}:TYPE=VALUE, got none")
    return found.group(1)
