"""ipc_idle is the private memory of a node daemon with the transport of signals off (`host`), over that of the last
daemon that had no such transport, while 16 clients on four GPUs do nothing. ipc_idle_processor is the same of its
processor time. ipc_idle_beside is all that the transport costs more than `host` when it is on, with one signaller for
each GPU.

Control of both: a daemon with signals that does the signallers' work itself, so that their cost is its own.
"""

from benchmarks.overhead import idle_cost
from benchmarks.runner import older_daemon
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, stats

GOAL = Goal("<=", 128.0, "median", runs=5)
_GOAL_PROCESSOR = Goal("<=", 0.001, "median", runs=5)
SCOPE = "component"
CASES = ("16_clients",)
_BEFORE = "254889d3"  # the last revision whose daemon has no transport but host words
_CONTROL = "the signallers' work within the daemon"


def measure(context, case):
    before = older_daemon.daemon_of(_BEFORE, context.build)
    courses = {"before": lambda: idle_cost.run(context.build, None, 0, pairs.MARK, daemon=before),
               "host": lambda: idle_cost.run(context.build, "host", 0, pairs.MARK),
               "ipc": lambda: idle_cost.run(context.build, "ipc", 1, pairs.MARK)}
    runs = {name: [] for name in courses}
    for number in range(max(GOAL.runs, context.runs)):
        for name in sorted(courses, reverse=number % 2 == 1):  # a drift of the machine must not favour one
            runs[name].append(courses[name]())
        more = more_than(runs["host"][-1], runs["before"][-1])
        context.say(f"    run {number + 1}: {more.private_kib:.0f} KiB and {more.processor:.5f} of a core more")
    condition = (f"{idle_cost.MACHINE.gpus_per_node} GPUs, {idle_cost.CLIENTS_PER_GPU} idle clients on each, "
                 f"{idle_cost.SECONDS:g} s; the daemon before is that of {_BEFORE}")
    remarks = {name: [str(run) for run in of_course] for name, of_course in runs.items()}
    for name, unit, goal, key in (
            ("ipc_idle", "KiB more than before", GOAL, "private_kib"),
            ("ipc_idle_processor", "of a core more than before", _GOAL_PROCESSOR, "processor")):
        more = [getattr(more_than(*pair), key) for pair in zip(runs["host"], runs["before"])]
        within = [getattr(work_within(*pair), key) for pair in zip(runs["ipc"], runs["before"])]
        yield Measured(name, case, goal.of(more), unit, goal, tuple(more),
                       controlled(goal, _CONTROL, stats.median(within)), condition, remarks)
    for name, unit, samples in costs_when_on(runs["ipc"], runs["host"]):
        yield Measured("ipc_idle_beside", f"{case}_{name}", stats.median(samples), unit, Goal("<="), tuple(samples),
                       None, condition)


def more_than(run, other):
    """Returns what the daemon of a run costs more than that of another."""
    return run.daemon - other.daemon


def work_within(run, other):
    """Returns what the daemon of a run would cost more than that of another if its signallers' work were its own."""
    return run.daemon + run.signallers - other.daemon


def costs_when_on(ipc, host):
    """Yields (name, unit, samples) of all that the transport costs."""
    more = [more_than(*pair) for pair in zip(ipc, host)]
    yield "daemon_memory", "KiB more than with host", [cost.private_kib for cost in more]
    yield "daemon_processor", "of a core more than with host", [cost.processor for cost in more]
    yield "signallers_memory", "KiB of the host, all four", [run.signallers.private_kib for run in ipc]
    yield "signallers_processor", "of a core, all four", [run.signallers.processor for run in ipc]
    yield "gpu_memory", "MiB of four GPUs, without contexts", [run.exported_bytes / 2**20 for run in ipc]
