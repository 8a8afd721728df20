"""grid25 multiplies matrices on grids of q x q x d ranks with the example grid_product, on the software GPU: 8 and 16
ranks on nodes of four GPUs, for every grid of so many ranks.

grid25           elements of Y and of both gradients that differ from those that one process computes
grid25_volume    bytes that a rank receives, by the software NCCL, beyond the formula: the largest difference. A grid of
                 one layer is SUMMA on a square, and one of one column is data parallel
grid25_uplink    bytes that a node receives from others, beyond the formula, where pods have the seats that the mapping
                 gives them (extender/placement/mapping.h): the largest difference. The ranks are numbered through the
                 layers first, so that in the order of ranks those of a layer are on several nodes. Each rank is a pod,
                 and the mapping gets the calls of such a job, as a JobProfile has them

Controls: the sum over the layers left out, for the elements and for the bytes; the order of ranks.
"""

from benchmarks.planning import mappings
from benchmarks.runner.results import Goal, Measured, controlled
from testing import grids
from testing.machine import Machine

_GRIDS = {"8_ranks": (grids.Shape(2, 2), grids.Shape(1, 8)),
          "16_ranks": (grids.Shape(4, 1), grids.Shape(2, 4), grids.Shape(1, 16))}
CASES = tuple(_GRIDS)
SCOPE = "component"
_GPUS = 4
_ITERATIONS = 3
_NONE = Goal("==", 0, judged="worst")


def measure(context, case):
    taken = [_Taken(context.build, shape) for shape in _GRIDS[case]]
    for each in taken:
        context.say(f"    {each.shape}: {each.wrong} wrong, {each.volume} bytes, uplink {each.uplink} bytes beyond; "
                    f"in the order of ranks {each.uplink_in_order}")
    condition = (f"{len(taken)} grids of {case.replace('_', ' ')}, nodes of {_GPUS} GPUs, matrices of 64 x 64, "
                 f"{_ITERATIONS} iterations")
    deep = taken[-2 if len(taken) > 2 else 0]
    yield Measured("grid25", case, max(each.wrong for each in taken), "elements", _NONE,
                   tuple(each.wrong for each in taken),
                   controlled(_NONE, "without the sum over the layers", deep.wrong_without_sum()), condition)
    yield Measured("grid25_volume", case, max(each.volume for each in taken), "bytes beyond the formula", _NONE,
                   tuple(each.volume for each in taken),
                   controlled(_NONE, "without the sum over the layers", deep.volume_without_sum()), condition)
    yield Measured("grid25_uplink", case, max(each.uplink for each in taken), "bytes beyond the formula", _NONE,
                   tuple(each.uplink for each in taken),
                   controlled(_NONE, "ranks in their order", deep.uplink_in_order),
                   f"{condition}; ranks numbered through the layers first",
                   {"in_order": [each.uplink_in_order for each in taken]})


class _Taken:
    """Holds what was measured of one grid."""

    def __init__(self, build, shape):
        self._build, self.shape = build, shape
        ranks = self._run(self._machine())
        self.wrong = sum(rank.wrong for rank in ranks)
        self.volume = self._beyond(ranks)
        self.uplink_in_order = self._uplink(self._machine())
        self.uplink = self._uplink(Machine(*self._size(), seats=tuple(self._mapped())))

    def _size(self):
        return self.shape.ranks // _GPUS, _GPUS

    def _machine(self):
        return Machine(*self._size())

    def _run(self, machine, *flags):
        return grids.run(self._build, machine, self.shape, *flags, iterations=_ITERATIONS)

    def wrong_without_sum(self):
        return sum(rank.wrong for rank in self._run(self._machine(), "--fault=no_layer_sum"))

    def volume_without_sum(self):
        return self._beyond(self._run(self._machine(), "--fault=no_layer_sum"))

    def _beyond(self, ranks):
        return max(abs(rank.received - _ITERATIONS * self.shape.received) for rank in ranks)

    def _uplink(self, machine):
        """Returns how many bytes the node that receives most gets from others, beyond the least."""
        ranks = self._run(machine, "--numbering=layers")
        received = [0] * machine.nodes
        for rank, outcome in enumerate(ranks):
            received[machine.place(rank)[0]] += outcome.other_nodes
        return max(received) - _ITERATIONS * self.shape.least_uplink(_GPUS)

    def _mapped(self):
        """Returns the seat of each rank, by the product's mapping."""
        nodes = [seat // _GPUS for seat in range(self.shape.ranks)]
        asked = {"pods": self.shape.ranks, "groups": self.shape.groups("layers"), "compute_s": [], "domains": [nodes],
                 "speeds": [], "seat_speeds": []}
        return mappings.ask(self._build, [asked])[0]["seat_of"]
