"""Gives older revisions of the tree from its history, for controls."""

import contextlib
import subprocess
import tempfile
from pathlib import Path

from testing.processes import Failed

TOP = Path(__file__).resolve().parents[2]


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
