"""reported counts tests of one reported fault that do not pass (benchmarks/cluster/reported_faults.py has the faults,
by their number in the list of reports). Cases of kind cluster run on a real API server, scheduler and controllers.

Control: the same tests with a program of the revision that the reports were tried on, or tests that do as was done
then. A case without a control says so in its remarks.
"""

import importlib
import os
import subprocess
import unittest

from benchmarks.cluster import reported_faults
from benchmarks.runner.conditions import unmet
from benchmarks.runner.older_build import with_older
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import operators
from testing.cluster.rig import Refused
from testing.processes import Failed

CASES = tuple(reported_faults.CASES)
SCOPE = "component"
GPUS = "software GPUs or made-up ones"
_GOAL = Goal("==", 0)
_UNIT_WITHIN_S = 600
_KINDS = {reported_faults.CLUSTER: "cluster", reported_faults.CHART: "program", reported_faults.UNIT: "program"}
_NEEDS = {"owners.test_recognition:KueueJobs": ("jobset", "kueue"),
          "owners.test_recognition:PyTorchJobs": ("training-operator",),
          "gangs.test_descheduler:Deschedulers": ("descheduler",),
          **{f"owners.test_operator_events:{name}": (operator,) for name, operator in (
              ("JobSets", "jobset"), ("LeaderWorkerSets", "lws"), ("MpiJobs", "mpi-operator"),
              ("PyTorchJobs", "training-operator"), ("TfJobs", "training-operator"),
              ("XgBoostJobs", "training-operator"), ("PaddleJobs", "training-operator"),
              ("JaxJobs", "training-operator"), ("KueuePodGroups", "kueue"), ("RayClusters", "kuberay"))}}


def left_out(case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return "; ".join(filter(None, map(operators.missing, _NEEDS.get(reported_faults.CASES[case].group, ()))))


def measure(context, case):
    wanted = reported_faults.CASES[case]
    try:
        wrong = _wrong(wanted, wanted.tests, context.build)
        control, remarks = _control(wanted, context.build)
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    context.say(f"    {wrong or 'all as designed'}; {remarks}")
    yield Measured("reported", case, len(wrong), f"of {len(wanted.tests)} that do not pass", _GOAL, (len(wrong),),
                   control, f"finding {wanted.finding}: {', '.join(wanted.tests)}",
                   {"finding": wanted.finding, "wrong": wrong, **remarks},
                   {"kind": _KINDS[wanted.place], "what": f"{wanted.group}: {', '.join(wanted.tests)}"})


def _wrong(wanted, tests, build):
    """Returns a line for each test that did not pass."""
    if wanted.place == reported_faults.UNIT:
        return [line for each in tests for line in _unit(build.program(wanted.group), each)]
    module, name = wanted.group.split(":")
    os.environ |= {"BUILD": str(build.top), "ADMISSION_WEBHOOK": str(build.program("admission_webhook")),
                   "OTHER_PLUGIN": str(build.program("other_plugin"))}
    folder = {reported_faults.CLUSTER: "cluster", reported_faults.CHART: "charts"}[wanted.place]
    test_class = getattr(importlib.import_module(f"tests.{folder}.{module}"), name)
    if not issubclass(test_class, unittest.TestCase):
        raise Failed(f"{wanted.group}: expected a class of tests, got {test_class}")
    return unmet(test_class, tests)


def _unit(program, tests):
    """Runs unit tests and returns a line if one does not pass. Raises Failed where the filter names none."""
    try:
        done = subprocess.run([str(program), f"--gtest_filter={tests}"], capture_output=True, text=True,
                              timeout=_UNIT_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Failed(f"{program}: {failure}") from failure
    if "[  PASSED  ] 0 tests" in done.stdout and "FAILED" not in done.stdout:
        raise Failed(f"{program.name}: {tests} names no test")
    return [] if done.returncode == 0 else [f"{tests}: {done.stdout.strip().splitlines()[-1]}"]


def _control(wanted, build):
    """Returns the Control, or None, and remarks about it."""
    if wanted.older:
        what = f"{wanted.older} of revision {reported_faults.BEFORE}"
        with with_older(build, wanted.older, reported_faults.BEFORE, reported_faults.UNKNOWN_TO_BEFORE) as older:
            seen = _wrong(wanted, wanted.tests, older)
        if seen and not reported_faults.is_by_the_fault(wanted, seen):
            raise Failed(f"{wanted.name}: expected a control that fails by {wanted.because!r}, got {seen}")
        return controlled(_GOAL, what, len(seen)), {"control_saw": seen}
    if wanted.was:
        missed = _wrong(wanted, wanted.was, build)
        seen = len(wanted.was) - len(missed)
        return controlled(_GOAL, f"as it was done before: {', '.join(wanted.was)}", seen), {"control_missed": missed}
    return None, {"control": "none: the tests do not build against the tree before, and nothing brings that back"}
