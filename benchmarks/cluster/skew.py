"""skew counts the pairs of versions that do not do as docs/support.md says: a daemon newer than its extender and the
reverse, definitions of a later release, and libraries under a daemon of another protocol.

Control: the first pair where both are of one version.
"""

from benchmarks.cluster.upgrade import counted
from testing.cluster.release import VERSION
from tests.cluster.release import test_upgrade

SCOPE = "component"
CASES = ("pairs",)
_PAIRS = ("test_3_a_daemon_may_be_newer_than_its_extender_and_an_extender_newer_is_named",
          "test_4_the_control_a_daemon_of_another_protocol_is_seen_and_refuses",
          "test_5_definitions_of_a_later_release_hold_nothing_up")


class _OneVersion(test_upgrade.Upgrade):
    NEXT = VERSION


def measure(context, case):
    yield counted(context, ("skew", case), "pairs of versions", _PAIRS, (_OneVersion, "both of one version"))
