"""size compares the lines of C++ of the product, without blank lines, comments and includes, with those of the tree at
which tools/lint/names.json was written. It says what there is, and asks for fewer.

Control: today's product, counted twice.
"""

import subprocess

from benchmarks import moved_on
from benchmarks.kept import TREE
from benchmarks.results import Goal, Measured, controlled

SCOPE = "component"
GPUS = "no GPUs"
NEEDS_BUILD = False
CASES = ("product",)
BEFORE = "a261eb01f413"
FOLDERS = ("proto", "common", "turn", "sidecar", "deviceplugin", "extender", "cli")
_CODE = (".cc", ".h")


def measure(_context, case):
    before, now = lines_of(BEFORE), lines_of(None)
    old, new = sum(before.values()), sum(now.values())
    goal = Goal("<=", float(old))
    yield Measured("size", case, new, "lines of C++", goal, (new,), controlled(goal, "the product twice", 2 * new),
                   f"without blank lines, comments and includes; {old} at {BEFORE}",
                   {"before": before, "now": now})


def lines_of(revision):
    """Returns {folder: lines of code} at a revision, or in the working tree for None."""
    return {folder: sum(count(name, text) for name, text in texts(revision, folder)) for folder in FOLDERS}


def count(name, text):
    """Returns the lines of a file with code, as benchmarks/moved_on.py tells code from comments."""
    return moved_on.code_lines(name, text).total()


def texts(revision, folder):
    """Yields (name, text) of each C++ file below a folder."""
    command = ["ls-files"] if revision is None else ["ls-tree", "-r", "--name-only", revision]
    for name in _git(*command, "--", f"{folder}/").splitlines():
        if name.endswith(_CODE):
            yield name, (TREE / name).read_text(encoding="utf-8") if revision is None \
                else _git("show", f"{revision}:{name}")


def _git(*words):
    return subprocess.run(["git", *words], cwd=TREE, check=True, capture_output=True, text=True).stdout
