"""uplink counts what seats in rank order leave to the links between racks. NCCL builds its rings over nodes in the
order of ranks, so a ring leaves a rack once for each pair of neighbours in different racks. For each gang the figure
counts the flows of the ring on the worst uplink of a rack, beyond the least possible: none where one rack has room for
the gang, else one. `uplink_racks` counts the racks of the gang beyond the least number that has room for it.

KWOK plays the nodes on a real API server and scheduler. The nodes of a rack have names in no order, and gangs of one
pod have some nodes already. Each gang is an Indexed Job, whose pods are in the order of their indices.

Controls: the same nodes in the order of their names, and the free nodes in the order of their names.
"""

import contextlib
import random
from collections import Counter

from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.gang_cluster import GangCluster
from testing.cluster.rig import Refused
from testing.processes import Failed

_RACK = "crossover.test/rack"
_INDEX = "batch.kubernetes.io/job-completion-index"
_SHAPES = {"racks_of_4_gang_16": (4, 16), "racks_of_8_gang_16": (8, 16), "racks_of_8_gang_32": (8, 32),
           "racks_of_16_gang_64": (16, 64)}
CASES = tuple(_SHAPES)
SCOPE = "component"
_ROUNDS = 3
_NONE = Goal("==", 0, judged="worst", runs=_ROUNDS)


def measure(context, case):
    size, gang = _SHAPES[case]
    racks = gang // size * 2
    draw = random.Random(f"uplink {case}")
    numbers = list(range(racks * size))
    draw.shuffle(numbers)
    rack_of = {f"fake-{number:03}": place // size for place, number in enumerate(numbers)}
    rounds = []
    try:
        with GangCluster(context.build, 0, 1, control={"settings": {"gangs": {"topology": [_RACK]}}}) as world, \
                contextlib.ExitStack() as stack:
            for rack in range(racks):
                members = sorted(name for name, of in rack_of.items() if of == rack)
                world.add_nodes(stack, members, 1, "fake", **{_RACK: f"rack-{rack}"})
            for number in range(_ROUNDS):
                busy = draw.sample(sorted(rack_of), draw.randrange(racks, racks * size - gang + 1))
                rounds.append(_round(world, f"gang-{number}", gang, busy, rack_of))
                context.say(f"    {len(busy)} nodes are busy: {rounds[-1]}")
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    condition = (f"{racks} racks of {size} nodes that KWOK plays, a gang of {gang} pods, one on each node; "
                 "names in no order")
    yield Measured("uplink", case, max(r["flows"] for r in rounds), "flows more than the least", _NONE,
                   tuple(r["flows"] for r in rounds),
                   controlled(_NONE, "nodes in the order of their names", min(r["flows_by_name"] for r in rounds)),
                   condition, {"rounds": rounds})
    yield Measured("uplink_racks", case, max(r["racks"] for r in rounds), "racks more than the least", _NONE,
                   tuple(r["racks"] for r in rounds),
                   controlled(_NONE, "the first free nodes by name", max(r["racks_by_name"] for r in rounds)),
                   condition)


def _round(world, name, size, busy, rack_of):
    """Places gangs of one pod on the nodes `busy`, and a gang of `size` pods on others. Returns what that costs beyond
    the least."""
    small = [f"{name}-{node}" for node in busy]
    for gang, node in zip(small, busy):
        world.create(gang, 1, nodeSelector={"kubernetes.io/hostname": node},
                     annotations={"crossover.dev/share": "exclusive"})
    world.until_whole(*small, patience_s=300.0)
    world.create(name, size, annotations={"crossover.dev/share": "exclusive"})
    world.until_whole(name, patience_s=300.0)
    pods = sorted(world.lives.pods(name), key=lambda pod: int(pod["metadata"]["annotations"][_INDEX]))
    nodes = [pod["spec"]["nodeName"] for pod in pods]
    world.remove(name, *small)
    free = sorted(set(rack_of) - set(busy))
    room = sorted(Counter(rack_of[node] for node in free).values(), reverse=True)
    least = next(count for count in range(1, len(room) + 1) if sum(room[:count]) >= size)
    flows = min(least - 1, 1)
    return {"flows": worst_uplink(nodes, rack_of) - flows,
            "flows_by_name": worst_uplink(sorted(nodes), rack_of) - flows,
            "racks": len({rack_of[node] for node in nodes}) - least,
            "racks_by_name": len({rack_of[node] for node in free[:size]}) - least}


def worst_uplink(nodes, rack_of):
    """Returns how many neighbours of a ring over `nodes` leave one rack, for the rack that most of them leave. Pure."""
    racks = [rack_of[node] for node in nodes]
    leaves = Counter(rack for rack, following in zip(racks, racks[1:] + racks[:1]) if rack != following)
    return max(leaves.values(), default=0)
