"""karpenter counts tests of one case that do not pass with the real Karpenter (tests/cluster/gangs/test_karpenter.py):
a gang that shares scales from zero, no running rank is consolidated away, and an exclusive gang gets new nodes.
Karpenter is built from its Go module (tools/install.sh --matrix) and runs on a real control plane with the webhook, the
extender and its scheduler. KWOK plays the nodes.

Control: the same without what brings it about: one slot for each GPU in the NodeOverlay, our annotation, or what our
pods prefer. A test of the control passes where the gang is not well then.
"""

import os

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import operators
from testing.cluster.rig import Refused
from testing.processes import Failed
from tests.cluster.gangs import test_karpenter

SCOPE = "component"
GPUS = "made-up ones"
_GOAL = Goal("==", 0)
_TESTS = {"from_zero": ("test_a_gang_that_shares_scales_from_zero",
                        "test_where_the_overlay_has_all_slots_too_few_nodes_come"),
          "consolidation": ("test_no_rank_is_consolidated_away",
                            "test_without_the_annotation_a_rank_is_consolidated_away"),
          "exclusive": ("test_an_exclusive_gang_gets_new_nodes",
                        "test_an_exclusive_gang_that_prefers_no_other_nodes_gets_none")}
CASES = tuple(_TESTS)


def left_out(_case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return operators.missing("karpenter")


def measure(context, case):
    os.environ["BUILD"] = str(context.build.top)
    test, control = _TESTS[case]
    try:
        found = unmet(test_karpenter.Karpenters, (test, control))
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    wrong = [line for line in found if not line.startswith(f"{control}:")]
    missed = [line for line in found if line not in wrong]
    context.say(f"    {wrong or 'all as designed'}; control: {missed or 'the gang is not well'}")
    yield Measured("karpenter", case, len(wrong), "of 1 that do not pass", _GOAL, (len(wrong),),
                   controlled(_GOAL, control, 0 if missed else 1),
                   f"Karpenter {operators.version('karpenter')}: {test}",
                   {"wrong": wrong, "control_missed": missed})
