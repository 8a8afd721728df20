"""upgrade counts the stories of tests/cluster/release/test_upgrade.py that do not hold: an upgrade, a rollback and an
upgrade beneath two jobs, with a daemon that is killed, and an upgrade while a node is drained. No iteration is lost, no
loss differs, no pod restarts by it, and no slot stays held. Beside it stand the seconds without turns.

skew counts the pairs of versions that do not do as docs/support.md says: a daemon newer than its extender and the
reverse, definitions of a later release, and libraries under a daemon of another protocol.

Controls: the first story with a release of another protocol; the first pair where both are of one version.
"""

import os
from pathlib import Path

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.release import VERSION
from tests.cluster.release import test_upgrade

SCOPE = "component"
GOAL = Goal("==", 0)
CASES = ("story", "skew")
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_STORIES = ("test_1_an_upgrade_a_rollback_and_an_upgrade_beneath_two_jobs",
            "test_2_a_node_is_drained_in_the_middle_of_an_upgrade")
_PAIRS = ("test_3_a_daemon_may_be_newer_than_its_extender_and_an_extender_newer_is_named",
          "test_4_the_control_a_daemon_of_another_protocol_is_seen_and_refuses",
          "test_5_definitions_of_a_later_release_hold_nothing_up")


class _OtherProtocol(test_upgrade.Upgrade):
    NEXT = test_upgrade.OTHER


class _OneVersion(test_upgrade.Upgrade):
    NEXT = VERSION


def measure(context, case):
    os.environ |= {"BUILD": str(context.build.top), "TRAINER_DATA": str(_DATA)}
    tests, known_bad, what = ((_STORIES, _OtherProtocol, "a release of another protocol") if case == "story" else
                              (_PAIRS, _OneVersion, "both of one version"))
    found, seen = unmet(test_upgrade.Upgrade, tests), unmet(known_bad, tests[:1])
    context.say(f"    {found or 'as designed'}; {what}: {seen}; {test_upgrade.Upgrade.measured}")
    name, unit = ("upgrade", "stories") if case == "story" else ("skew", "pairs of versions")
    yield Measured(name, case, len(found), f"{unit} of {len(tests)}", GOAL, (len(found),),
                   controlled(GOAL, what, len(seen)), "the chart on a real cluster of two nodes, software GPUs, MPS",
                   {"found": found, "control_saw": seen, **test_upgrade.Upgrade.measured})
