"""gaps_losses tells whether every loss of every rank is the same, bit for bit, with and without the library, and
whether the user's own calls are the same too, where turns end at waits: jobs that keep their parameters sharded, with
no layer, one and two gathered ahead.

Controls: those of losses_identical. The wait that is removed is one for a layer's parameters: the job then computes
with what it has discarded.
"""

from benchmarks.faults import losses_identical
from benchmarks.turns.eta_gaps import AT_WAITS
from testing import pairs

GOAL = losses_identical.GOAL
_AHEAD = (0, 1, 2)
_BY_CASE = {f"sharded_{ahead}": pairs.Shape(0.6, "sharded", compute_ms=10.0, iterations=100,
                                            extra=(f"--prefetch={ahead}",), settings=AT_WAITS) for ahead in _AHEAD}
CASES = tuple(_BY_CASE)
# A rank waits twice for each of ten gathers, once for each of five scatters, and for these five at the end.
_WAITS, _REMOVED_IN = 30, 10
# Two collectives come before the first iteration, which has fifteen. The first one of the second iteration gathers the
# largest layer, which has no padding.
_FLIPPED = 2 + 15


def measure(context, case):
    shape = _BY_CASE[case]
    # The communication stream waits once for each gather that is called before the first join.
    first_join = 1 + int(case[-1])
    yield losses_identical.measured(context, "gaps_losses", case, shape, _WAITS * _REMOVED_IN + first_join, _FLIPPED)
