"""Gives older revisions of the tree from its history, for controls, and runs commands in a tree."""

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


def run_in(tree, *command, codes=(0,), **how):
    """Runs a command in the folder of a tree. `how` is of subprocess.run. Raises Failed, with the last words of the
    command, if it ends with another code than these."""
    done = subprocess.run([str(word) for word in command], cwd=tree, capture_output=True, text=True, check=False, **how)
    if done.returncode not in codes:
        raise Failed(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-1500:]}")
