"""size compares the lines of C++ of the product, without blank lines, comments and includes, with those of the tree at
which tools/lint/names.json was written. It says what there is, and asks for fewer.

Control: today's product, counted twice.
"""

from benchmarks.runner import catalogue, moved_on
from benchmarks.runner.kept import TREE
from benchmarks.runner.results import Goal, Measured, controlled

SCOPE = "component"
GPUS = "no GPUs"
NEEDS_BUILD = False
CASES = ("product",)
BEFORE = "a261eb01f413"
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
    tree = moved_on.Tree(TREE)
    return {folder: tree.lines(folder, _CODE, revision).total() for folder in catalogue.figure("size").folders}
