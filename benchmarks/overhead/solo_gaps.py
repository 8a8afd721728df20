"""solo_gaps is what a job alone pays for the library where its turns may end at waits: a job that keeps its parameters
sharded, and waits for each layer. Samples are as in solo_overhead. A job alone takes turns only until the daemon knows
what an iteration needs, and that is over before samples count. So this is the cost of being watched, not of turns.

Control: phases told apart by clocks, with a host wait at each collective.
"""

from benchmarks.overhead import solo_overhead
from benchmarks.runner.results import Goal
from benchmarks.turns.eta_gaps import AT_WAITS
from testing import pairs

GOAL = Goal("<=", 0.005, "median", runs=5)
_SHAPE = pairs.Shape(0.6, "sharded", compute_ms=40.0, iterations=100, extra=("--prefetch=0",), settings=AT_WAITS)
CASES = ("sharded_0",)


def measure(context, case):
    yield solo_overhead.measured(context, "solo_gaps", case, _SHAPE, GOAL, solo_overhead.TIMED_PHASES,
                                 _SHAPE.condition())
