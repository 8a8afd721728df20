"""gaps_hang counts schedules in which jobs stop that take a turn between each two gaps.

drawn: 10,000 programs drawn from seeds, each under a random schedule, in a model that executes the shipped operations
and the shipped pass of the arbiter: two or three jobs on two to four GPUs, mixed groups, calls of several streams in
crossed order, and a kill with a late write in every second one. Each stream has a hardware channel of its own.
Controls: five rules under which jobs stop. The last one also puts all streams into one channel. There the shipped rule
stops as well, where compute stands between a call and its wait (gap_explorer_test).

kills: two jobs in processes that keep their parameters sharded, with 200 kills of one of them. Control: a survivor
whose stream gets stuck.
"""

import json
import subprocess

from benchmarks.faults import rank_kills
from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns.eta_gaps import AT_WAITS

GOAL = Goal("==", 0)
CASES = ("drawn", "kills")
SCOPE = {"drawn": "component", "kills": "chain"}
_WALKS, _BAD_WALKS = 10_000, 1_000
_BAD_RULES = {"some_keep": "job A keeps its gaps on one GPU, job B on another",
              "each_chooses": "each rank keeps some of its gaps", "all_keep": "all gaps are kept",
              "after_waits": "a turn lasts until its collective has ended",
              "behind_the_call": "a release stands behind its collective in one channel"}
_KILLS, _ROUNDS = 200, 6


def measure(context, case):
    yield _drawn(context) if case == "drawn" else _kills(context)


def _drawn(context):
    found = _walks(context, _WALKS, "at_waits")
    bad = {what: _walks(context, _BAD_WALKS, rule)["stuck"] for rule, what in _BAD_RULES.items()}
    conditions = {"kind": "model", "model": "gap_walks", "jobs": {"from": 2, "to": 3}, "ranks": {"from": 2, "to": 4},
                  "c_ms": 1, "m_over_c": 1,
                  "links": "not modelled", "jitter": 0, "kernel_sms": 132, "co_run": 1, "mode": "mps",
                  "walks": found["walks"]}
    return Measured("gaps_hang", "drawn", found["stuck"], f"of {found['walks']} schedules", GOAL, (found["stuck"],),
                    tuple(controlled(GOAL, what, stuck) for what, stuck in bad.items()),
                    "drawn programs under random schedules, a kill in every second one", found, conditions)


def _walks(context, walks, rule):
    ran = subprocess.run([str(context.build.program("gap_walks")), str(walks), rule], check=True, capture_output=True,
                         text=True)
    return json.loads(ran.stdout)


def _kills(context):
    outcomes, total = [], 0
    while total < _KILLS:
        outcomes.append(_play(context, _ROUNDS, len(outcomes)))
        total += len(outcomes[-1].kills)
        context.say(f"    {total} kills; {outcomes[-1].wrong or 'nothing wrong'}")
        if not outcomes[-1].kills:
            break
    stuck = _play(context, 1, 0, environment={"SIMGPU_FAULT": "stuck_stream:2000"})
    wrong = [outcome.wrong for outcome in outcomes if outcome.wrong]
    shape = _scenario(_ROUNDS, 0).shape
    return Measured("gaps_hang", "kills", len(wrong), f"bad runs of {len(outcomes)}, {total} kills", GOAL,
                    (len(wrong),), controlled(GOAL, "the survivor's stream gets stuck", int(bool(stuck.wrong))),
                    f"{shape.condition()}, {_ROUNDS} rounds of kills per run", {"wrong": wrong},
                    shape.conditions())


def _scenario(rounds, seed):
    return rank_kills.Scenario(2, rounds, seed, variant="sharded", settings=AT_WAITS)


def _play(context, rounds, seed, **how):
    return rank_kills.play(context.build, _scenario(rounds, seed), context.build.library, context.isolated, **how)
