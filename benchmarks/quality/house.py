"""house holds the rules by which an engineer finds the way in the tree: circles of folders that include each other,
parsers of one cluster object in a process, names that one reading found unclear and that no glossary explains, and
the share of comment blocks that open with a fragment. The checks of tools/lint count all of them.

Control: the same count with one planted fault.
"""

import json
import sys
from unittest import mock

from benchmarks.runner.kept import TREE
from benchmarks.runner.results import Goal, Measured, controlled

sys.path.insert(0, str(TREE / "tools" / "lint"))
import house  # noqa: E402
import layers  # noqa: E402
import tree  # noqa: E402
import words  # noqa: E402

SCOPE = "component"
GPUS = "no GPUs"
NEEDS_BUILD = False
GOALS = {"folder_cycles": Goal("==", 0), "parsers": Goal("<=", 1), "unclear_names": Goal("==", 0),
         "fragments": Goal("<=", 0.03)}
CASES = tuple(GOALS)
_UNITS = {"folder_cycles": "circles", "parsers": "parsers of one object in a process", "unclear_names": "names",
          "fragments": "part of the comment blocks"}


def measure(_context, case):
    value, found, (what, control) = {"folder_cycles": folder_cycles, "parsers": parsers,
                                     "unclear_names": unclear_names, "fragments": fragments}[case]()
    goal = GOALS[case]
    yield Measured("house", case, value, _UNITS[case], goal, (value,), controlled(goal, what, control),
                   "all sources of the product; for comments, all sources of the tree", {"found": found})


def folder_cycles():
    edges = layers.folder_edges(tree.files(".h", ".cc"))
    circles = layers.circles(edges)
    return len(circles), circles, ("common/base includes common/kube",
                                   len(layers.circles([*edges, ("common/base", "common/kube")])))


def parsers():
    paths = tree.files(".h", ".cc")
    found = house.parsers(paths)
    planted, text = "extender/cluster/planted.cc", "std::optional<Pod> Again(const json& object) {\n"
    read = tree.read
    with mock.patch.object(tree, "read", lambda path: text if path == planted else read(path)):
        control = house.parsers([planted, *paths])["extender", "Pod"]
    return house.most_parsers(found), {f"{process} {kind}": functions for (process, kind), functions in found.items()
                                       if len(functions) > 1}, ("a second parser of pods", len(control))


def unclear_names():
    """Counts the names of tools/lint/names.json that are still there and have no reason. The control adds a name of
    the product to that list."""
    paths, table = tree.files(".h", ".cc"), json.loads(house.NAMES.read_text(encoding="utf-8"))
    reasons = house.glossary(tree.read(house.GLOSSARY))
    names = house.left(table, reasons, paths)
    planted = {"place": "turn", "name": "Policy", "term": "planted"}
    return len(names), names, ("Policy is a name of the list", len(house.left([*table, planted], reasons, paths)))


def fragments():
    counted, blocks = words.complaints(words.checked())
    opened = len(counted["fragments"])
    planted = sum(map(words.is_fragment, ["Whether a comment says what it is about."] * (blocks // 20)))
    return opened / blocks, opened, ("one block more in twenty, which opens with a fragment",
                                     (opened + planted) / (blocks + blocks // 20))
