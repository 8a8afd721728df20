"""kills_ipc counts rounds in which a job hung or had wrong losses, where its streams wait for signals in device memory,
and its neighbours' ranks are killed at random instants and started again: holders, clients that wait for a signal, and
clients that wait at a gate. kills_ipc_p99 is the time from the kill of a holder until the next client that is ready has
its turn.

In the case `signallers` the signallers are killed and started again. kills_ipc counts runs in which a job ends, or
signals do not come back; kills_ipc_stall is the longest time without a new turn on that GPU after a kill.

Controls: a survivor whose stream gets stuck; a library without its liveness word; signallers that are not started
again.
"""

from benchmarks import kills, signaller_kills, stats
from benchmarks.results import Goal, Measured, controlled

GOAL, P99_GOAL, STALL_GOAL = Goal("==", 0), Goal("<=", 5), Goal("<=", 2000, "worst")
CASES = ("2_jobs", "signallers")
_KILLS, _ROUNDS, _SIGNALLER_KILLS = 250, 6, 50
_SILENT = "silent_death"


def measure(context, case):
    yield from _of_ranks(context, case) if case == "2_jobs" else _of_signallers(context, case)


def _of_ranks(context, case):
    outcomes, total = [], 0
    while total < _KILLS:
        outcomes.append(_play(context, context.build.library, _ROUNDS, len(outcomes)))
        total += len(outcomes[-1].kills)
        context.say(f"    {total} kills; {outcomes[-1].wrong or 'nothing wrong'}")
        if not outcomes[-1].kills:
            break
    wrong = [outcome.wrong for outcome in outcomes if outcome.wrong]
    stuck = _play(context, context.build.library, 1, 0, {"SIMGPU_FAULT": "stuck_stream:2000"})
    shape = kills.Scenario(2, 1, 0).shape
    condition = f"{shape.condition()}, one signaller for each GPU, {_ROUNDS} rounds of kills in a run"
    conditions = shape.conditions(gates="ipc")
    yield Measured("kills_ipc", case, len(wrong), f"bad runs of {len(outcomes)}, {total} kills", GOAL, (len(wrong),),
                   controlled(GOAL, "the survivor's stream gets stuck", int(bool(stuck.wrong))), condition,
                   {"wrong": wrong}, conditions)
    waits = tuple(wait for outcome in outcomes for wait in outcome.hand_over_ms)
    late = _play(context, context.build.known_bad(_SILENT), 2, 0)
    yield Measured("kills_ipc_p99", case, _p99(waits), "ms", P99_GOAL, waits,
                   controlled(P99_GOAL, "a library without its liveness word", _p99(late.hand_over_ms)), condition, {},
                   conditions)


def _of_signallers(context, case):
    found = signaller_kills.play(context.build, signaller_kills.Scenario(_SIGNALLER_KILLS, 32), context.build.library,
                                 context.isolated)
    gone = signaller_kills.play(context.build, signaller_kills.Scenario(1, 32, again=False), context.build.library,
                                context.isolated)
    shape = signaller_kills.Scenario(1, 0).shape
    condition = f"{shape.condition()}, one signaller for each GPU, {len(found.kills)} kills of signallers"
    conditions = shape.conditions(gates="ipc")
    bad = int(bool(found.wrong))
    yield Measured("kills_ipc", case, bad, f"bad runs of 1, {len(found.kills)} kills", GOAL, (bad,),
                   controlled(GOAL, "signallers that are not started again", int(bool(gone.kills and gone.wrong))),
                   condition, {"wrong": found.wrong}, conditions)
    worst = max(found.stall_ms) if found.stall_ms else None
    yield Measured("kills_ipc_stall", case, worst, "ms", STALL_GOAL, found.stall_ms, None, condition, {}, conditions)


def _play(context, library, rounds, seed, environment=None):
    return kills.play(context.build, kills.Scenario(2, rounds, seed, signallers=1), library, context.isolated,
                      environment=environment)


def _p99(values):
    return stats.percentile(values, 99) if values else None
