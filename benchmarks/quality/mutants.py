"""mutants changes one thing on each of 100 lines of the product, drawn at random with the revision as seed. It counts
the changes that no unit test detects (testing/mutants). Each survivor is in the remarks, with what
testing/mutants/explained.txt says of it. A change that does not compile is drawn anew. A change that makes a test wait
in vain counts as detected.

`mutants_unexplained` counts the survivors of which that file says nothing.

Control: the lines of one file, with and without the test file that is written for it.
"""

from benchmarks.runner.results import Control, Goal, Measured
from testing.mutants import explained, runs, trial
from testing.processes import Failed

SCOPE = "component"
GPUS = "no GPUs"
CASES = ("drawn",)
_GOAL, _ALL_EXPLAINED = Goal("<=", 5), Goal("==", 0)
_FEWER = 20
_FILE, _ITS_TEST = "deviceplugin/stats/client_stats.cc", "tests/unit/deviceplugin/stats/client_stats_test.cc"


def measure(context, case):
    seed = runs.revision()
    tried = _run(context, runs.Plan(seed=seed))
    survivors = _survivors(tried)
    reasons = explained.read()
    condition = f"seed {seed}; {', '.join(runs.draw.FOLDERS)}; unit tests"
    ends = [outcome.end for _, outcome in tried]
    yield Measured("mutants", case, len(survivors), f"of {len(tried)} mutations that survive", _GOAL,
                   tuple(int(end == "survived") for end in ends), _control(context, seed), condition,
                   {"ends": {end: ends.count(end) for end in sorted(set(ends))},
                    "survivors": [_told(mutation, reasons) for mutation in survivors]})
    unexplained = [mutation for mutation in survivors if not explained.of(mutation, reasons)]
    yield Measured("mutants_unexplained", case, len(unexplained), "survivors of which nothing is said", _ALL_EXPLAINED,
                   (len(unexplained),), None, condition)


def _control(context, seed):
    """Returns the control. Its value is the number of survivors of a hundred among the lines of one file, without its
    tests. It must be more than the goal allows, and more than with the tests."""
    plan = runs.Plan(_FEWER, seed, (_FILE,))
    with_it = len(_survivors(_run(context, plan)))
    without = len(_survivors(_run(context, runs.Plan(_FEWER, seed, (_FILE,), _ITS_TEST))))
    value = without * 100 / _FEWER
    return Control(f"{_FILE} without {_ITS_TEST}: {without} of {_FEWER} survive, with it {with_it}", value,
                   not _GOAL.met_by(value) and without > with_it)


def _run(context, plan):
    try:
        return runs.run(plan, say=lambda text: context.say(f"    {text}"))
    except trial.Failed as failure:
        raise Failed(str(failure)) from None


def _survivors(tried):
    return [mutation for mutation, outcome in tried if outcome.end == "survived"]


def _told(mutation, reasons):
    return {"file": mutation.file, "line": mutation.line, "operator": mutation.operator, "before": mutation.before,
            "after": mutation.after, "why": explained.of(mutation, reasons) or "not explained"}
