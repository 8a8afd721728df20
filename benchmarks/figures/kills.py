"""kills counts rounds in which a job hung or had wrong losses, out of many in which its neighbours' ranks are killed at
random instants and started again. Every rank is in a PID namespace of its own (its PID is 1 in each); one case has no
such namespaces.

`kills_p99` is the time from the kill of a holder until the next client that is ready has its turn. `kills_false_deaths`
counts clients that were given up while they lived.

Controls: a survivor whose stream gets stuck, which must be seen as a hang; a library without its liveness word, whose
death is known only once the kernel has torn its memory down.
"""

from benchmarks import kills, stats
from benchmarks.results import Goal, Measured, controlled

GOAL, P99_GOAL, NONE = Goal("==", 0), Goal("<=", 5), Goal("==", 0)
_JOBS = {"2_jobs": 2, "3_jobs": 3, "4_jobs": 4, "2_jobs_one_namespace": 2}
CASES = tuple(_JOBS)
_KILLS, _ROUNDS = 250, 6  # kills of a case, at least; rounds of a run
_SILENT = "silent_death"


def measure(context, case):
    jobs, isolated = _JOBS[case], not case.endswith("one_namespace") and context.isolated
    outcomes, total = [], 0
    while total < _KILLS:
        scenario = kills.Scenario(jobs, _ROUNDS, len(outcomes))
        outcomes.append(kills.play(context.build, scenario, context.build.library, isolated))
        total += len(outcomes[-1].kills)
        context.say(f"    {total} kills; {outcomes[-1].wrong or 'nothing wrong'}")
        if not outcomes[-1].kills:
            break
    wrong = [o.wrong for o in outcomes if o.wrong]
    conditions = kills.Scenario(jobs, _ROUNDS, 0).shape.conditions(jobs=jobs)
    stuck = kills.play(context.build, kills.Scenario(2, 1, 0), context.build.library, isolated,
                       environment={"SIMGPU_FAULT": "stuck_stream:2000"})
    yield Measured("kills", case, len(wrong), f"bad runs of {len(outcomes)}, {total} kills", GOAL, (len(wrong),),
                   controlled(GOAL, "the survivor's stream gets stuck", int(bool(stuck.wrong))), _condition(jobs),
                   {"wrong": wrong}, conditions)
    waits = [wait for o in outcomes for wait in o.hand_over_ms]
    late = kills.play(context.build, kills.Scenario(jobs, 2, 0), context.build.known_bad(_SILENT), isolated)
    yield Measured("kills_p99", case, _p99(waits), "ms", P99_GOAL, tuple(waits),
                   controlled(P99_GOAL, "a library without its liveness word", _p99(late.hand_over_ms)),
                   _condition(jobs), {}, conditions)
    false_deaths = sum(o.false_deaths for o in outcomes)
    yield Measured("kills_false_deaths", case, false_deaths, "clients", NONE, (false_deaths,), None, _condition(jobs),
                   {}, conditions)


def _p99(values):
    return stats.percentile(values, 99) if values else None


def _condition(jobs):
    ranks = kills.ranks_of(jobs)
    return f"{jobs} jobs of {ranks} ranks on 2 nodes, c = 10 ms, m/c = 0.6, mps, {_ROUNDS} rounds of kills per run"
