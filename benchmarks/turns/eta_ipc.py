"""eta_ipc is how much of eta two equal jobs lose by waiting for signals in device memory, against host words in the
same run: nine cases of eta, without the guard, whose looks cost one run more and another one less. Each process has two
hardware channels, as under MPS, and each GPU has one signaller. All clients must take turns by the transport in the
middle of the run and near its end. eta_ipc_beside shows both values.

Control, against the shipped library: release after the collective.
"""

import time

from benchmarks.runner.results import Goal, Measured
from benchmarks.turns import eta
from testing import evaluate, pairs, stats, transports

_RATIOS = (0.2, 0.6, 1.0)
_VARIANTS = ("plain", "broadcast_buffers", "loss_allreduce")
GOAL = Goal("<=", 0.005, "median", runs=5)
_CHANNELS = "queues:2"
_BY_CASE = {f"{variant}_{ratio:g}": pairs.Shape(ratio, variant, iterations=200, alone=90, fault=_CHANNELS)
            for variant in _VARIANTS for ratio in _RATIOS}
CASES = tuple(_BY_CASE)
_PATIENCE_S = 2.0


def measure(context, case):
    shape, details = _BY_CASE[case], []
    alone = eta.alone_of(context, shape)
    with context.without_guard():
        value, samples = pairs.measured_by(context, GOAL, lambda: _lost(context, shape, context.build.library, alone,
                                                                        details))
    control = None
    if value is not None:
        control = context.controlled(GOAL, "release after the collective", eta.CONTROL,
                                     lambda library: _lost(context, shape, library, alone, []))
    condition = f"{shape.condition()}, one signaller for each GPU"
    yield Measured("eta_ipc", case, value, "of the bound, lost", GOAL, samples, control, condition, {"runs": details},
                   shape.conditions(gates="ipc", guard="off"))
    for gates in transports.TRANSPORTS:
        etas = tuple(run[gates] for run in details)
        yield Measured("eta_ipc_beside", f"{case}_{gates}", stats.median(etas) if etas else None, "1", Goal(), etas,
                       None, condition, {}, shape.conditions(gates=gates, guard="off"))


def _lost(context, shape, library, alone, details):
    """Returns what the library with signals loses against the shipped one with host words, or None where a run was
    void or failed."""
    etas = {}
    for gates, of_gates in (("gpu", context.build.library), ("ipc", library)):
        etas[gates] = alone and context.has(of_gates) and _eta(context, shape, of_gates, gates, alone)
        if not etas[gates]:
            return None
    details.append(etas)
    return etas["gpu"] - etas["ipc"]


def _eta(context, shape, library, gates, alone):
    solo, job = alone
    wrong = ""

    def watch(running):
        nonlocal wrong
        for tenths in (5, 8):
            running.wait_for_iterations(shape.iterations * tenths // 10)
            end = time.monotonic() + _PATIENCE_S  # a client whose signaller got no processor does without for a moment
            while (wrong := transports.not_by(gates, transports.seen_by(running),
                                              shape.jobs * shape.ranks)) and time.monotonic() < end:
                time.sleep(0.1)
            if wrong:
                return

    both = pairs.together(context, shape, library, environment={"CROSSOVER_GATES": gates}, during=watch,
                          settings=("transport: ipc",), signallers=1)
    if not both:
        return None
    if wrong:
        context.fail(wrong)
        return None
    shared = pairs.rate(shape, both, solo, evaluate.shared_bound([job] * shape.jobs, shape.machine()))
    return pairs.of_bound(context, shared.eta)
