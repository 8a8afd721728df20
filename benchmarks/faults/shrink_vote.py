"""shrink_vote counts votes on narrowing that end wrong. `explorer`: rules of the vote that break in some state of two
to four ranks, with loss, delay and death at each step; the shipped decisions run in it (tests/unit/shrink/vote).
`processes`: rows of testing/shrink/rows.py in which two ranks come through a reduction with different results, a rank
hangs, or the job does not end as the row says. A process for each rank runs on the software GPU, with the library
preloaded.

Controls: rules that are known to be bad, and must be found, each; a rank that narrows without a vote, which the
software NCCL must name.
"""

from benchmarks.runner import gtests
from benchmarks.runner.results import Goal, Measured, controlled
from testing.shrink import rows

SCOPE = "component"
GPUS = "software GPUs"
CASES = ("explorer", "processes")
_GOAL = Goal("==", 0)
_LIMIT_S = 900


def measure(context, case):
    yield from {"explorer": _explorer, "processes": _processes}[case](context)


def _explorer(context):
    tests = _ran(context, "VoteExplorer.*")
    wrong = [name for name, failed in tests.items() if failed]
    controls = _ran(context, "VoteExplorerControl.*")
    found = [name for name, failed in controls.items() if not failed]
    context.say(f"    {len(tests)} rules: {wrong or 'none is broken'}; "
                f"{len(found)} of {len(controls)} bad rules are found")
    yield Measured("shrink_vote", "explorer", len(wrong), "rules that break, at least", _GOAL, (len(wrong),),
                   controlled(_GOAL, "known-bad rules", len(found) if len(found) == len(controls) else 0),
                   "all states of votes of 2, 3 and 4 ranks", {"broken": wrong, "rules": sorted(tests)},
                   {"kind": "model"})


def _ran(context, tests):
    """Returns {test: its failures} of the explorer. Raises Failed if it does not end in order."""
    program = context.build.program("shrink_vote_explorer_test")
    return {test["name"]: test.get("failures", []) for test in gtests.ran(program, tests, _LIMIT_S)}


def _processes(context):
    wrong = {}
    for row in rows.ROWS:
        found = rows.fate(context.build, row)
        context.say(f"    {row.name}: {'; '.join(found) or row.ending}")
        if found:
            wrong[row.name] = found
    control = rows.faults(rows.CONTROL, rows.play(context.build, rows.CONTROL))
    named = sum("bfloat16" in line for line in control)
    context.say(f"      a rank that narrows without a vote: {control or 'not seen'}")
    unit = f"rows of {len(rows.ROWS)} that diverge, hang or end otherwise"
    yield Measured("shrink_vote", "processes", len(wrong), unit, _GOAL, (len(wrong),),
                   controlled(_GOAL, "a rank that narrows without a vote", named),
                   "jobs of 2 or 3 ranks on one node, limits of 0.5 to 20 s, one fault each",
                   {"wrong": wrong, "rows": {row.name: row.ending for row in rows.ROWS}}, {"kind": "program"})
