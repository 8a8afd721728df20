"""kills counts rounds in which a job hung or had wrong losses, out of many in which its neighbours' ranks are killed at
random instants and started again. Every rank is in a PID namespace of its own (its PID is 1 in each); one case has no
such namespaces.

`kills_p99` is the time from the kill of a holder until the next client that is ready has its turn. `kills_false_deaths`
counts clients that were given up while they lived.

Controls: a survivor whose stream gets stuck, which must be seen as a hang; a library without its liveness word, whose
death is known only once the kernel has torn its memory down.
"""

from collections import Counter

from benchmarks.faults import rank_kills
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats

GOAL, P99_GOAL, NONE = Goal("==", 0), Goal("<=", 5), Goal("==", 0)
_JOBS = {"2_jobs": 2, "3_jobs": 3, "4_jobs": 4, "2_jobs_one_namespace": 2}
CASES = tuple(_JOBS)
_KILLS, _ROUNDS = 250, 6  # kills of a case, at least; rounds of a run
_OF_EACH_KIND = 15  # with signallers, at least
_SILENT = "silent_death"


def measure(context, case):
    isolated = not case.endswith("one_namespace") and context.isolated
    yield from measured(context, "kills", case, _JOBS[case], isolated)


def measured(context, figure, case, jobs, isolated, signallers=0):
    """Yields the lines of a case of so many jobs. With `signallers`, their streams wait for signals, and the kills are
    of each kind."""
    def play(library, jobs_then, rounds, seed, **how):
        scenario = rank_kills.Scenario(jobs_then, rounds, seed, signallers)
        return rank_kills.play(context.build, scenario, library, isolated, **how)

    outcomes, total, states = [], 0, Counter()
    kinds = (rank_kills.HOLDS, rank_kills.WAITS_FOR_A_SIGNAL, rank_kills.WAITS_AT_A_GATE) if signallers else ()
    while total < _KILLS or total < 2 * _KILLS and any(states[kind] < _OF_EACH_KIND for kind in kinds):
        outcomes.append(play(context.build.library, jobs, _ROUNDS, len(outcomes)))
        total += len(outcomes[-1].kills)
        states.update(outcomes[-1].states)
        context.say(f"    {total} kills; {outcomes[-1].wrong or 'nothing wrong'}")
        if not outcomes[-1].kills:
            break
    wrong = [o.wrong for o in outcomes if o.wrong]
    gates = {"gates": "ipc"} if signallers else {}
    conditions = rank_kills.Scenario(jobs, _ROUNDS, 0, signallers).shape.conditions(jobs=jobs, **gates)
    condition = _condition(jobs)
    if signallers:
        condition += "; signals in device memory; the victim " + ", ".join(
            f"{state}: {count}" for state, count in sorted(states.items()))
    stuck = play(context.build.library, 2, 1, 0, environment={"SIMGPU_FAULT": "stuck_stream:2000"})
    yield Measured(figure, case, len(wrong), f"bad runs of {len(outcomes)}, {total} kills", GOAL, (len(wrong),),
                   controlled(GOAL, "the survivor's stream gets stuck", int(bool(stuck.wrong))), condition,
                   {"wrong": wrong}, conditions)
    waits = [wait for o in outcomes for wait in o.hand_over_ms]
    late = play(context.build.known_bad(_SILENT), jobs, 2, 0)
    yield Measured(f"{figure}_p99", case, _p99(waits), "ms", P99_GOAL, tuple(waits),
                   controlled(P99_GOAL, "a library without its liveness word", _p99(late.hand_over_ms)),
                   condition, {}, conditions)
    false_deaths = sum(o.false_deaths for o in outcomes)
    yield Measured(f"{figure}_false_deaths", case, false_deaths, "clients", NONE, (false_deaths,), None, condition, {},
                   conditions)


def _p99(values):
    return stats.percentile(values, 99) if values else None


def _condition(jobs):
    ranks = rank_kills.ranks_of(jobs)
    return f"{jobs} jobs of {ranks} ranks on 2 nodes, c = 10 ms, m/c = 0.6, mps, {_ROUNDS} rounds of kills per run"
