"""recognition counts jobs of real operators that were not recognised as the gangs that they are, or that were not left
alone, as designed (tests/cluster/owners/test_recognition.py). Each operator has a case. It is built from its Go module
(tools/install.sh --matrix) and installed as its makers say, on a real control plane with the webhook and the extender.

Controls: a job without the annotation of which a gang is expected, and one with it that is expected to be left alone.
"""

import os
import unittest

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import operators
from testing.cluster.rig import Refused
from testing.processes import Failed
from tests.cluster.owners import test_recognition

SCOPE = "component"
_GOAL = Goal("==", 0)
_TESTS = {"jobset": test_recognition.JobSets, "lws": test_recognition.LeaderWorkerSets,
          "kueue": test_recognition.KueueJobs, "mpi-operator": test_recognition.MpiJobs,
          "training-operator": test_recognition.PyTorchJobs}
_CONTROLS = ("control_a_gang_without_the_annotation", "control_left_alone_with_the_annotation")
CASES = tuple(_TESTS)


def left_out(case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return operators.missing(case)


def measure(context, case):
    os.environ["BUILD"] = str(context.build.top)
    names = unittest.defaultTestLoader.getTestCaseNames(_TESTS[case])
    try:
        found = unmet(_TESTS[case], [*names, *_CONTROLS])
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    wrong = [line for line in found if line.partition(":")[0] not in _CONTROLS]
    seen = [line.partition(":")[0] for line in found if line not in wrong]
    context.say(f"    {wrong or 'all as designed'}; controls that were seen: {seen}")
    versions = {name: operators.version(name) for name in _TESTS[case].OPERATORS}
    # Each of the controls must be detected, or none counts.
    control = len(seen) if len(seen) == len(_CONTROLS) else 0
    yield Measured("recognition", case, len(wrong), f"plays of {len(names)}", _GOAL, (len(wrong),),
                   controlled(_GOAL, "jobs that are not what is expected of them", control),
                   "jobs of four pods and others, on nodes that KWOK plays",
                   {"operators": versions, "wrong": wrong, "control_saw": seen, "plays": list(names)})
