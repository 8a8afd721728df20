"""opposed_helm counts the steps of the story of tests/cluster/release/test_helm.py that do not hold. They state what a
release must do and leave alone in a cluster. Two jobs share by annotations, `share` and a profile key that an earlier
run has taught, in a restricted namespace. An upgrade and a rollback beneath them lose no step. Uninstalling stops while
pods hold slots, and leaves what is stated.

Control: uninstalling without the chart's hooks.
"""

import os
import unittest
from pathlib import Path

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from tests.cluster.release import test_helm

GOAL = Goal("==", 0)
CASES = ("story",)
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_STEPS = tuple(unittest.TestLoader().getTestCaseNames(test_helm.Helm))
_STOPS = next(step for step in _STEPS if step.endswith("_uninstall_stops_while_pods_hold_slots"))


class _WithoutHooks(test_helm.Helm):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        do = cls.release.do
        cls.release.do = lambda verb, *words, **more: do(verb, *words, *(
            ["--no-hooks"] if verb == "uninstall" else []), **more)


def measure(context, case):
    os.environ |= {"BUILD": str(context.build.top), "TRAINER_DATA": str(_DATA)}
    found, seen = unmet(test_helm.Helm, _STEPS), unmet(_WithoutHooks, (_STOPS,))
    context.say(f"    {found or 'as promised'}; without hooks: {seen}")
    yield Measured("opposed_helm", case, len(found), f"steps of {len(_STEPS)}", GOAL, (len(found),),
                   controlled(GOAL, "uninstalled without hooks", len(seen)),
                   "the chart on a real cluster of two nodes, software GPUs, MPS",
                   {"found": found, "control_saw": seen, "conditions": list(_STEPS)})
