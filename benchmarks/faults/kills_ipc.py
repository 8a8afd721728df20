"""kills_ipc counts rounds in which a job hung or had wrong losses, where its streams wait for signals in device memory,
and its neighbours' ranks are killed at random instants and started again. In every second round the neighbours have
host words, so that the kills are of holders, of clients that wait for a signal, and of clients that wait at a gate; the
line says how many of each. kills_ipc_p99 is the time from the kill of a holder until the next client that is ready has
its turn. kills_ipc_false_deaths counts clients that were given up while they lived.

Each process has two hardware queues, as under MPS. In the case `signallers` the signallers are killed and started
again. kills_ipc counts runs in which a job ends, or signals do not come back; kills_ipc_stall is the longest time
without a new turn on that GPU after a kill.

Controls: a survivor whose stream gets stuck; a library without its liveness word; signallers that are not started
again; of the stall, both jobs stopped for three seconds after the kill.
"""

from benchmarks.faults import kills, signaller_kills
from benchmarks.runner.results import Goal, Measured, controlled

GOAL, STALL_GOAL = Goal("==", 0), Goal("<=", 2000, "worst")
CASES = ("2_jobs", "signallers")
_SIGNALLER_KILLS = 50


def measure(context, case):
    if case == "2_jobs":
        yield from kills.measured(context, "kills_ipc", case, 2, context.isolated, signallers=1)
    else:
        yield from _of_signallers(context, case)


def _of_signallers(context, case):
    found = signaller_kills.play(context.build, signaller_kills.Scenario(_SIGNALLER_KILLS, 32), context.build.library,
                                 context.isolated)
    gone, stopped = (signaller_kills.play(context.build, signaller_kills.Scenario(1, 32, **how),
                                          context.build.library, context.isolated)
                     for how in ({"again": False}, {"stops": True}))
    shape = signaller_kills.Scenario(1, 0).shape
    condition = f"{shape.condition()}, one signaller for each GPU, {len(found.kills)} kills of signallers"
    conditions = shape.conditions(gates="ipc")
    bad = int(bool(found.wrong))
    yield Measured("kills_ipc", case, bad, f"bad runs of 1, {len(found.kills)} kills", GOAL, (bad,),
                   controlled(GOAL, "signallers that are not started again", int(bool(gone.kills and gone.wrong))),
                   condition, {"wrong": found.wrong}, conditions)
    worst, planted = (max(outcome.stall_ms) if outcome.stall_ms else None for outcome in (found, stopped))
    yield Measured("kills_ipc_stall", case, worst, "ms", STALL_GOAL, found.stall_ms,
                   controlled(STALL_GOAL, "both jobs are stopped for three seconds", planted), condition, {},
                   conditions)
