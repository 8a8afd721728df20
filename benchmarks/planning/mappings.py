"""Draws gangs that exchange bytes over trees of links, and says what their mappings cost. It shares no code with the
product (extender/placement/mapping.cc): a cost is counted from the flows alone, and the best mapping is found by
trying all. ask() asks the product.
"""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass

from testing.processes import Failed


def ask(build, cases):
    """Returns what placement_mapping answers about each case (benchmarks/planning/mapping_main.cc)."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    program = build.program("placement_mapping")
    done = subprocess.run([str(program)], input=lines, capture_output=True, text=True, timeout=600, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(answers) != len(cases):
        raise Failed(f"{program}: {len(answers)} answers to {len(cases)} cases: {done.stderr}")
    return answers


@dataclass(frozen=True)
class Gang:
    """A Gang has flows (from, to, bytes) between pods, and seats: `paths` says for each the domain of every level, the
    widest first. `speeds` are of the uplinks by (level, domain); `compute` is of pods, and `seat_speeds` of seats."""

    flows: tuple
    paths: tuple
    speeds: dict
    compute: tuple
    seat_speeds: tuple

    @property
    def pods(self):
        return len(self.paths)

    def text(self):
        """Returns the gang as a case of placement_mapping, without the end of line."""
        levels = range(len(self.paths[0]))
        return {"pods": self.pods, "flows": self.flows, "compute_s": self.compute, "seat_speeds": self.seat_speeds,
                "domains": [[path[level] for path in self.paths] for level in levels],
                "speeds": [[self.speeds[level, domain] for domain in
                            range(1 + max(path[level] for path in self.paths))] for level in levels]}


def cost(gang, seat_of):
    """Returns the time of the slowest pod's compute, and the load of the busiest uplink of each level."""
    slowest = max(compute / gang.seat_speeds[seat_of[pod]] for pod, compute in enumerate(gang.compute))
    sent, received = Counter(), Counter()
    for source, target, size in gang.flows:
        if source == target:
            continue
        pairs = zip(gang.paths[seat_of[source]], gang.paths[seat_of[target]])
        for level, (here, there) in enumerate(pairs):
            if here != there:
                sent[level, here] += size
                received[level, there] += size
    loads = [0.0] * len(gang.paths[0])
    for uplink in sent.keys() | received.keys():
        load = max(sent[uplink], received[uplink]) / gang.speeds[uplink]
        loads[uplink[0]] = max(loads[uplink[0]], load)
    return (slowest, *loads)


def all_mappings(gang):
    """Yields all mappings that can differ in cost: of seats that are alike the pods have the lowest first."""
    kinds = {}
    for seat, kind in enumerate(zip(gang.paths, gang.seat_speeds)):
        kinds.setdefault(kind, []).append(seat)
    groups, chosen = list(kinds.values()), []

    def choose(free):
        if len(chosen) == gang.pods:
            yield tuple(chosen)
            return
        for number, group in enumerate(groups):
            if free[number] < len(group):
                chosen.append(group[free[number]])
                yield from choose((*free[:number], free[number] + 1, *free[number + 1:]))
                chosen.pop()

    yield from choose((0,) * len(groups))


def least(gang):
    """Returns the least cost of all mappings."""
    return min(cost(gang, seat_of) for seat_of in all_mappings(gang))


def drawn(draw, pods, shuffled=True):
    """Draws a gang of so many pods: its tree, the speeds of seats and links, and what its pods send. `shuffled`: the
    ranks are in no order; else they are as frameworks number them, neighbours in a group one after the other."""
    speeds_differ, compute_differs = draw.random() < 0.5, draw.random() < 0.3
    paths = _tree(draw, pods)
    uplinks = {(level, domain) for path in paths for level, domain in enumerate(path)}
    highest = {level: max(domain for of, domain in uplinks if of == level) for level in range(len(paths[0]))}
    speeds = {(level, domain): draw.choice((1.0, 2.0, 4.0)) if speeds_differ else 1.0
              for level in sorted(highest) for domain in range(highest[level] + 1)}
    by_node = {}
    for path in paths:
        by_node.setdefault(path, draw.choice((0.5, 1.0)) if compute_differs else 1.0)
    compute = tuple(draw.choice((0.01, 0.015, 0.02)) if compute_differs else 0.01 for _ in paths)
    return Gang(tuple(_flows(draw, pods, shuffled)), paths, speeds, compute, tuple(by_node[path] for path in paths))


def _tree(draw, pods):
    """Draws the path of each seat: one to four seats on a node, nodes in racks, and racks in blocks or in none."""
    wide, seats, nodes = draw.random() < 0.5, [], 0
    node_size = draw.choice((1, 1, 2, 4))
    rack_size = draw.choice((1, 2, 3, 4))
    while len(seats) < pods:
        rack = nodes // rack_size
        path = (rack // 2, rack, nodes) if wide else (rack, nodes)
        seats += [path] * draw.randint(1, node_size)
        nodes += 1
    return tuple(seats[:pods])


def _flows(draw, pods, shuffled):
    """Draws what the pods send: rings of groups, neighbours in a pipeline, a grid of both, or anything."""
    order = draw.sample(range(pods), pods) if shuffled else range(pods)
    kind = draw.choice(("rings", "pipeline", "grid", "any"))
    if kind == "any":
        for _ in range(draw.randint(1, 3 * pods)):
            yield draw.randrange(pods), draw.randrange(pods), draw.randint(1, 1000)
        return
    width = draw.choice([width for width in range(1, pods + 1) if pods % width == 0])
    for start in range(0, pods, width):
        group, size = order[start:start + width], draw.randint(1, 1000)
        if kind in ("rings", "grid") and width > 1:
            yield from ((group[i], group[(i + 1) % width], size) for i in range(width))
        if kind == "pipeline":
            yield from ((group[i], group[i + 1], size) for i in range(width - 1))
            yield from ((group[i + 1], group[i], size) for i in range(width - 1))
        if kind == "grid" and start + width < pods:
            yield from ((order[start + i], order[start + width + i], draw.randint(1, 100)) for i in range(width))
