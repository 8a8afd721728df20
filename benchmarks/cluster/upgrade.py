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
GOAL = Goal("==", 0)
CASES = ("story",)
DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_STORIES = ("test_1_an_upgrade_a_rollback_and_an_upgrade_beneath_two_jobs",
            "test_2_a_node_is_drained_in_the_middle_of_an_upgrade")


class _OtherProtocol(test_upgrade.Upgrade):
    NEXT = test_upgrade.OTHER


def measure(context, case):
    os.environ |= {"BUILD": str(context.build.top), "TRAINER_DATA": str(DATA)}
    found, seen = unmet(test_upgrade.Upgrade, _STORIES), unmet(_OtherProtocol, _STORIES[:1])
    context.say(f"    {found or 'as designed'}; another protocol: {seen}; {test_upgrade.Upgrade.measured}")
    yield Measured("upgrade", case, len(found), f"stories of {len(_STORIES)}", GOAL, (len(found),),
                   controlled(GOAL, "a release of another protocol", len(seen)),
                   "the chart on a real cluster of two nodes, software GPUs, MPS",
                   {"found": found, "control_saw": seen, **test_upgrade.Upgrade.measured})
