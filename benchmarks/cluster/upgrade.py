"""upgrade counts the stories of tests/cluster/release/test_upgrade.py that do not hold: an upgrade, a rollback and an
upgrade beneath two jobs, with a daemon that is killed, and an upgrade while a node is drained. No iteration is lost, no
loss differs, no pod restarts by it, and no slot stays held. Beside it stand the seconds without turns.

Control: the first story with a release of another protocol.
"""

import os
from pathlib import Path

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from tests.cluster.release import test_upgrade

SCOPE = "component"
_GOAL = Goal("==", 0)
CASES = ("story",)
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_STORIES = ("test_1_an_upgrade_a_rollback_and_an_upgrade_beneath_two_jobs",
            "test_2_a_node_is_drained_in_the_middle_of_an_upgrade")


class _OtherProtocol(test_upgrade.Upgrade):
    NEXT = test_upgrade.OTHER


def measure(context, case):
    yield counted(context, ("upgrade", case), "stories", _STORIES, (_OtherProtocol, "a release of another protocol"))


def counted(context, names, unit, tests, control):
    """Counts the tests of an upgrade that do not pass, for a figure and a case. `control` is a class of which the first
    test must not pass, and what it is in words."""
    os.environ |= {"BUILD": str(context.build.top), "TRAINER_DATA": str(_DATA)}
    known_bad, what = control
    found, seen = unmet(test_upgrade.Upgrade, tests), unmet(known_bad, tests[:1])
    measured = test_upgrade.Upgrade.measured
    context.say(f"    {found or 'as designed'}; {what}: {seen}; {measured}")
    return Measured(*names, len(found), f"{unit} of {len(tests)}", _GOAL, (len(found),),
                    controlled(_GOAL, what, len(seen)), "the chart on a real cluster of two nodes, software GPUs, MPS",
                    {"found": found, "control_saw": seen, **measured})
