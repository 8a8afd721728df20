"""shrink_bytes counts the bytes of an all-reduce with 8 bits that are not those of its formula, as the software NCCL
counts what each rank receives: from other nodes, rank by rank, and within nodes.

Control: the same job whose ranks are all on nodes of their own, so that all of them exchange with all (flat). It has
other bytes between nodes.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing.shrink import wire

SCOPE = "component"
GPUS = "software GPUs"
SHAPES = {"2x2": (0, 0, 1, 1), "3x2": (0, 0, 1, 1, 2, 2)}
CASES = tuple(SHAPES)
_GOAL = Goal("==", 0)


def measure(context, case):
    nodes = SHAPES[case]
    shape = max(nodes) + 1, nodes.count(0)
    expected = wire.formula(wire.COUNT, *shape)
    counted = wire.counted(context.build, nodes)
    flat, _ = wire.counted(context.build, range(len(nodes)))
    context.say(f"    {counted}; flat: {flat}")
    value = _difference(expected, counted)
    plain = 2 * (len(nodes) - 1) / len(nodes) * 4 * wire.COUNT
    yield Measured("shrink_bytes", case, value, "bytes that differ", _GOAL, (value,),
                   controlled(_GOAL, "a flat exchange over all ranks", abs(sum(expected[0]) - sum(flat))),
                   f"an all-reduce of {wire.COUNT} float32, {shape[0]} nodes of {shape[1]} ranks",
                   {"between_nodes": counted[0], "within_nodes": counted[1], "flat": flat,
                    "a_ring_without_a_codec": plain}, {"kind": "program"})


def _difference(expected, counted):
    return sum(abs(a - b) for a, b in zip(expected[0], counted[0])) + abs(expected[1] - counted[1])
