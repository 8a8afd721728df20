"""hostile is the rate of a job beside a malicious client, over its rate with nothing else on its GPUs and without the
library. Beside it stand two values: whether the client is named and ungated, in the cases that show which client is at
fault, and how much the arbiters grow.

Control: the same under a watchdog that waits for ten seconds before it opens anything.
"""

import contextlib
import time
from pathlib import Path

from benchmarks.isolation import hostile_client
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, session

GOAL, NAMED_GOAL, MEMORY_GOAL = Goal(">=", 0.98, "worst", runs=5), Goal(">=", 1), Goal("<=", 1.0)
CASES = tuple(hostile_client.WAYS)
_SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=1200, warm_up=30)
_GANG = "mallory"
_NAMED = ("scribbles", "holds")  # nothing identifies a careful forger; a flood is only refused
# These runs have no guard. It finds within seconds that turns beside such a client do not pay, and ends them.
_GUARD_OFF = ("guard: off",)
_PATIENT = ("watchdog: {floor_ms: 10000}", *_GUARD_OFF)


def measure(context, case):
    yield from measure_as("hostile", context, case, hostile_client.command)


def measure_as(figure, context, case, command, settings=()):
    """Yields the lines of a way to do harm, under the name of a figure. `command` has the signature of hostile.command.
    `settings` are those of the arbiters."""
    alone = pairs.solo(context, _SHAPE)
    runs = []
    for _ in range(max(GOAL.runs, context.runs)):
        runs.append(alone and _one(context, case, alone[0], command, (*_GUARD_OFF, *settings)))
        if runs[-1] is None:
            rates = tuple(run and run["rate"] for run in runs)
            yield Measured(figure, case, None, "of its own rate", GOAL, rates, None, _SHAPE.condition(),
                           {"runs": runs}, _SHAPE.conditions(jobs=1))
            return
    bad = _one(context, "holds", alone[0], hostile_client.command, _PATIENT)
    words, conditions = _SHAPE.condition(), _SHAPE.conditions(jobs=1, beside=f"a client that {case}")
    rates = tuple(run["rate"] for run in runs)
    yield Measured(figure, case, GOAL.of(rates), "of its own rate", GOAL, rates,
                   controlled(GOAL, "a client that holds for ever, a watchdog of 10 s", bad and bad["rate"]), words,
                   {"runs": runs}, conditions)
    if case in _NAMED:
        yield Measured(f"{figure}_named", case, min(run["named"] for run in runs), "GPUs of its GPUs", NAMED_GOAL,
                       tuple(run["named"] for run in runs), None, words, {}, conditions)
    growth = tuple(run["grown_mib"] for run in runs)
    yield Measured(f"{figure}_memory", case, max(growth), "MiB that an arbiter grew by", MEMORY_GOAL, growth, None,
                   words, {}, conditions)


def _one(context, case, alone, command, settings):
    seen = {}

    def attack(running):
        running.wait_for_iterations(_SHAPE.iterations // 10)
        for node in range(running.machine.nodes):
            gpus = [running.machine.uuid(node, gpu) for gpu in range(running.machine.gpus_per_node)]
            running.start_client(node, f"hostile{node}", command(case, running.socket(node), _GANG, gpus))
        seen["began_ns"] = time.monotonic_ns()
        time.sleep(2.0)  # the client needs this time to start
        seen["before"] = _resident_mib(running)
        running.wait_for_iterations(_SHAPE.iterations // 10 * 9)
        seen["after"], seen["ended_ns"] = _resident_mib(running), time.monotonic_ns()
        running.processes.stop([f"hostile{node}" for node in range(running.machine.nodes)])

    plan = session.Plan(_SHAPE.machine(), (_SHAPE.job("alpha", 1),), context.build.library,
                        isolated=context.isolated, during=attack, daemon_settings=settings)
    result = context.session(plan)
    if result is None:
        return None
    cycle = result.job("alpha").cycle_ms_within(seen["began_ns"], seen["ended_ns"])
    offends = {e.gpu for e in result.trace if e.event in ("offend", "damage") and e.gang == _GANG}
    return {"rate": alone.step_ms / cycle, "named": len(offends) / plan.machine.ranks,
            "turns": sum(e.event == "hold" and e.gang == "alpha" for e in result.trace),
            "grown_mib": max(after - before for before, after in zip(seen["before"], seen["after"])),
            "said": sorted({line for rank in result.said["alpha"] for line in rank.splitlines()
                            if line.startswith("crossover:")})}


def _resident_mib(running):
    """Returns the resident memory of each node's arbiter in MiB."""
    return [max(_resident_of(pid) for pid in running.processes.family(f"arbiter{node}"))
            for node in range(running.machine.nodes)]


def _resident_of(pid):
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0
