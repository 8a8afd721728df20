"""Computes what a plan of a pipeline is held against: the time of a division by an event loop of its own, the best of
all divisions, and the divisions that published estimates pick. It shares no code with the planner. Pure, but for the
reading of tables."""

import bisect
import heapq
import itertools
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

TABLES = Path(__file__).resolve().parent / "pipeline_tables"
_NODE = re.compile(r"^(\w+) -- (.*) -- forward_compute_time=([\d.]+), backward_compute_time=([\d.]+), "
                   r"activation_size=(\S+|\[[^\]]*\]), parameter_size=([\d.]+)")


@dataclass(frozen=True)
class Block:
    """Times are whole nanoseconds of one micro-batch, sizes are bytes."""

    forward: int
    backward: int
    output: int = 0


@dataclass(frozen=True)
class Link:
    """A transfer takes `latency` ns and a nanosecond for each `bytes_per_ns` bytes; 0: bytes cost nothing."""

    latency: int = 0
    bytes_per_ns: float = 0

    def takes(self, size, half=False):
        whole = round(size / self.bytes_per_ns) if self.bytes_per_ns else 0
        return self.latency + (whole // 2 if half else whole)


def stages_of(blocks, borders):
    """Returns (forward, backward, output of the last block) of each stage."""
    return [(sum(b.forward for b in blocks[begin:end]), sum(b.backward for b in blocks[begin:end]),
             blocks[end - 1].output) for begin, end in itertools.pairwise(borders)]


def iteration_ns(stages, microbatches, link=Link(), sliced=0, slice_cost=0.0):
    """Returns the time of an iteration by 1F1B, by an event loop: each stage is told of what arrives, and decides by
    what it has begun what is next. A half takes half the time and `slice_cost` of it more, rounded."""
    count = len(stages)
    arrived = [set() for _ in stages]  # ("F", micro-batch, half) or ("B", micro-batch), ready to run
    forwards, halves, backwards = [0] * count, [0] * count, [0] * count
    busy, events, now = [False] * count, [], 0
    order = itertools.count()
    for m in range(microbatches):
        arrived[0] |= {("F", m, 0), ("F", m, 1)} if m < sliced else {("F", m, None)}

    def start(stage):
        in_flight = forwards[stage] - backwards[stage]
        ahead = forwards[stage] < microbatches and in_flight < count - stage
        if ahead:
            m = forwards[stage]
            half = (halves[stage] if m < sliced else None)
            work = ("F", m, half)
            takes = stages[stage][0]
            takes = math.floor(takes / 2 * (1 + slice_cost) + 0.5) if half is not None else takes
        else:
            work, takes = ("B", backwards[stage]), stages[stage][1]
        if busy[stage] or work not in arrived[stage]:
            return
        arrived[stage].discard(work)
        busy[stage] = True
        heapq.heappush(events, (now + takes, next(order), "ends", stage, work))

    for stage in range(count):
        start(stage)
    while events:
        now, _, what, stage, work = heapq.heappop(events)
        if what == "arrives":
            arrived[stage].add(work)
            start(stage)
            continue
        busy[stage] = False
        if work[0] == "F":
            half = work[2]
            if half == 0:
                halves[stage] = 1
            else:
                halves[stage] = 0
                forwards[stage] += 1
            if stage + 1 < count:
                at = now + link.takes(stages[stage][2], half is not None)
                heapq.heappush(events, (at, next(order), "arrives", stage + 1, work))
            elif half != 0:
                heapq.heappush(events, (now, next(order), "arrives", stage, ("B", work[1])))
        else:
            backwards[stage] += 1
            if stage > 0:
                at = now + link.takes(stages[stage - 1][2])
                heapq.heappush(events, (at, next(order), "arrives", stage - 1, work))
        start(stage)
    return now


def divisions(blocks, stages):
    """Yields the borders of all divisions of so many blocks."""
    for cuts in itertools.combinations(range(1, blocks), stages - 1):
        yield (0, *cuts, blocks)


def best_ns(blocks, stages, microbatches, link=Link()):
    return min(iteration_ns(stages_of(blocks, borders), microbatches, link)
               for borders in divisions(len(blocks), stages))


def even(blocks, stages):
    return tuple(blocks * stage // stages for stage in range(stages + 1))


def picked_by_dapple(blocks, stages, microbatches, link):
    """Returns the division for which DAPPLE's estimate is least: to fill the pipeline, as often as there are further
    micro-batches the longest of the stages and transfers, and to drain it. Each stage has one GPU: the plan has no
    replicas, so the estimate's choice of them has no counterpart."""
    whole, best = sum(b.forward + b.backward for b in blocks), None
    for most in _limits(blocks, link):  # of the longest, from the least on
        if best and whole + (microbatches - 1) * most >= best[0]:
            break
        borders = _least_transfers(blocks, stages, most, link)
        if borders is None:
            continue
        transfers = sum(link.takes(blocks[border - 1].output) for border in borders[1:-1])
        estimate = whole + 2 * transfers + (microbatches - 1) * most
        if best is None or estimate < best[0]:
            best = estimate, borders
    return best[1]


def picked_by_piper(blocks, stages, link):
    """Returns the division whose slowest stage is fastest, with the transfers of a stage counted as its own time, as
    Piper's search has it for pipelines without tensor or data parallelism."""
    limits = _limits(blocks, link, with_transfers=True)
    least = bisect.bisect_left(limits, True, key=lambda most: _least_transfers(
        blocks, stages, most, link, with_transfers=True) is not None)
    return _least_transfers(blocks, stages, limits[least], link, with_transfers=True)


def _limits(blocks, link, with_transfers=False):
    """Returns all times that the longest stage or transfer of a division can take, in ascending order."""
    sums = [0, *itertools.accumulate(b.forward + b.backward for b in blocks)]
    transfer = _transfers(blocks, link)
    stages = {sums[end] - sums[begin] + (transfer[begin] + transfer[end] if with_transfers else 0)
              for begin, end in itertools.combinations(range(len(sums)), 2)}
    return sorted(stages | set(transfer))


def _transfers(blocks, link):
    """Returns what a cut behind so many blocks takes of a micro-batch, in both directions."""
    return [0, *(2 * link.takes(b.output) for b in blocks[:-1]), 0]


def _least_transfers(blocks, stages, most, link, with_transfers=False):
    """Returns the division with the least transfers whose stages and transfers take no longer than `most`, or None."""
    count = len(blocks)
    sums = [0, *itertools.accumulate(b.forward + b.backward for b in blocks)]
    transfer = _transfers(blocks, link)
    table = [{0: (0, None)}]
    for _ in range(stages):
        row = {}
        for begin, (cost, _) in table[-1].items():
            for end in range(begin + 1, count + 1):
                if sums[end] - sums[begin] > most:
                    break
                own = sums[end] - sums[begin] + (transfer[begin] + transfer[end] if with_transfers else 0)
                if max(own, transfer[end]) > most:
                    continue
                found = cost + transfer[end], begin
                if end not in row or found < row[end]:
                    row[end] = found
        table.append(row)
    if count not in table[stages]:
        return None
    borders, end = [count], count
    for row in reversed(table[1:]):
        end = row[end][1]
        borders.append(end)
    return tuple(reversed(borders))


def dapple(path):
    """Reads one of DAPPLE's tables."""
    blocks = []
    for line in path.read_text(encoding="utf-8").splitlines():
        found = _NODE.match(line)
        if found:
            sizes = [float(part) for part in found[5].strip("[]").split(";")]
            blocks.append(Block(round(float(found[3]) * 1e6), round(float(found[4]) * 1e6), round(max(sizes))))
    return [b for b in blocks if b.forward + b.backward > 0]


def piper(path):
    """Reads one of Piper's inputs. It has the time of both passes: a third is forward."""
    data = json.loads(path.read_text(encoding="utf-8"))
    following, needs, sent = {}, {}, {}
    for edge in data["edges"]:
        following.setdefault(edge["sourceId"], []).append(edge["destId"])
        needs[edge["destId"]] = needs.get(edge["destId"], 0) + 1
        sent[edge["sourceId"]] = max(sent.get(edge["sourceId"], 0), edge["communicationCost"])
    nodes = {node["id"]: node["timePerSample"] for node in data["nodes"]}
    ready, blocks = sorted(n for n in nodes if not needs.get(n)), []
    while ready:
        node = ready.pop(0)
        ns = round(nodes[node] * 1e6)
        blocks.append(Block(ns // 3, ns - ns // 3, round(sent.get(node, 0))))
        for other in following.get(node, ()):
            needs[other] -= 1
            if needs[other] == 0:
                ready.append(other)
        ready.sort()
    return [b for b in blocks if b.forward + b.backward > 0]


def tables():
    """Returns {name: blocks} of all published tables."""
    found = {f"dapple_{path.stem}": dapple(path) for path in sorted((TABLES / "dapple").glob("*.txt"))}
    return found | {f"piper_{path.stem}": piper(path) for path in sorted((TABLES / "piper").glob("*.json"))}


def csv(blocks):
    lines = [f"{b.forward / 1e6:.6f},{b.backward / 1e6:.6f},{b.output}" for b in blocks]
    return "forward_ms,backward_ms,output_bytes\n" + "\n".join(lines) + "\n"
