"""solo_gaps is what a job alone pays for the library where its turns may end at waits: a job that keeps its parameters
sharded, and waits for each layer, and one with experts, which waits for four exchanges. Samples are as in
solo_overhead. A job alone takes turns only until the daemon knows what an iteration needs, and that is over before
samples count. So this is the cost of being watched, not of turns.

Control: phases told apart by clocks, with a host wait at each collective.
"""

from dataclasses import replace

from benchmarks.overhead import solo_overhead
from benchmarks.runner.results import Goal
from benchmarks.turns.eta_gaps import AT_WAITS, EXPERT_BYTES
from testing import pairs

GOAL = Goal("<=", 0.005, "median", runs=5)
_SHARDED = pairs.Shape(0.6, "sharded", compute_ms=40.0, iterations=100, extra=("--prefetch=0",), settings=AT_WAITS)
_BY_CASE = {"sharded_0": _SHARDED,
            "experts": replace(_SHARDED, variant="experts", extra=("--routing=fixed",), gradient_bytes=EXPERT_BYTES)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    yield solo_overhead.measured(context, "solo_gaps", case, shape, GOAL, solo_overhead.TIMED_PHASES,
                                 shape.condition())
