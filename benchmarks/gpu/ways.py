"""Shares the GPU by MPS or by time slices, and gives a line for each way that cannot be had."""

import contextlib

from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import figure
from benchmarks.gpu.rig import Mps

WAYS = ("timeslice", "mps")
NO_MPS = "no MPS: "  # the reason of a line begins so where MPS itself is lacking


@contextlib.contextmanager
def sharing(rig, way):
    """Yields the environment of programs that share the GPU by MPS ("mps") or by time slices ("timeslice"). On the
    software GPU the way is the machine's mode. Raises Cannot, with NO_MPS before the reason, where there is no MPS."""
    state = rig.fresh("machine")
    software = {"SIMGPU_MACHINE": f"1x1,mode={way}", "SIMGPU_STATE": state / "state"} if rig.software else {}
    if way == "timeslice":
        yield software
        return
    with contextlib.ExitStack() as stack:
        try:
            mps = stack.enter_context(Mps(rig, rig.fresh("mps")))
        except Cannot as reason:
            raise Cannot(f"{NO_MPS}{reason}") from reason
        yield software | mps.environment


def missed(name, case, goal, reason, unit="1"):
    """Returns the line of a case that could not be measured. Its remarks have the reason."""
    return figure(name, case, None, unit, goal, reason=reason)


def each_way(rig, lines_of, refusal):
    """Yields what `lines_of(way, environment)` yields for each way. Where a way cannot be had, or its measurement ends
    early, `refusal(way, reason)` returns the line that says so, and the next way is measured."""
    for way in WAYS:
        try:
            with sharing(rig, way) as environment:
                yield from lines_of(way, environment)
        except Cannot as reason:
            yield refusal(way, str(reason))
