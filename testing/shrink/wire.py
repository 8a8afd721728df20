"""Says how many bytes an all-reduce with 8 bits, or with planned bits, moves, by its formula and by the software NCCL,
which counts what each rank receives. The formula is written anew here: it knows nothing of the library."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from testing.processes import Failed
from testing.shrink.job import Job, RankSettings

COUNT = 100_003  # elements of each call of tests/process/shrink/rank.cc
BUCKET = 512
_CALLS = 2  # by which the scenario `thrice` has more than `sum`


def _parts(count, parts):
    """Returns the sizes of the parts of a buffer: whole buckets, all of one length but the last ones."""
    length = -(-(-(-count // BUCKET)) // parts) * BUCKET
    return [max(0, min(count - part * length, length)) for part in range(parts)]


def _encoded(count):
    whole, rest = divmod(count, BUCKET)
    return whole * (BUCKET + 8) + (rest + 8 if rest else 0)


def formula(count, nodes, per_node):
    """Returns (bytes of each rank from other nodes, bytes of all ranks from their own nodes)."""
    from_others = []
    for node in range(nodes):
        for shard in _parts(count, per_node):
            chunks = list(map(_encoded, _parts(shard, nodes)))
            from_others.append((nodes - 1) * chunks[node] + sum(chunks) - chunks[node])
    return from_others, nodes * 2 * (per_node - 1) * count * 4


def planned_formula(count, nodes, per_node, plan):
    """Returns the same for a call with planned bits. `plan` has the bits of each piece, in a text for each place."""
    from_others = []
    for node in range(nodes):
        for place, shard in enumerate(_parts(count, per_node)):
            chunks = [_planned(size, plan[place][len(plan[place]) // nodes * chunk:])
                      for chunk, size in enumerate(_parts(shard, nodes))]
            from_others.append((nodes - 1) * chunks[node] + sum(chunks) - chunks[node])
    return from_others, nodes * 2 * (per_node - 1) * count * 4


def _planned(size, bits):
    """Returns the bytes of a chunk whose pieces of 16 buckets have these bits."""
    total, piece = 0, 16 * BUCKET
    for begin, each in zip(range(0, size, piece), bits):
        whole, rest = divmod(min(piece, size - begin), BUCKET)
        total += whole * (8 + BUCKET * int(each) // 8) + (8 + -(-rest * int(each) // 8) if rest else 0)
    return total


def counted(build, nodes, settings=RankSettings(shrink="q8"), scenarios=("sum", "thrice")):
    """Returns the same as formula(), of one call of a job, by two jobs of which the second one has two calls more.
    `nodes` has the node of each rank. Raises Failed where a rank fails or a sum is not narrowed."""
    few, many = (_received(build, nodes, settings, scenario) for scenario in scenarios)
    each = [tuple((more - less) / _CALLS for less, more in zip(*both)) for both in zip(few, many)]
    return [others for _, others in each], sum(same for same, _ in each)


def _received(build, nodes, settings, scenario):
    with tempfile.TemporaryDirectory() as folder, Job(build, folder, len(nodes), scenario, nodes) as job:
        for rank in range(job.ranks):
            report = Path(folder, f"report.{rank}")
            report.mkdir()
            own = {**settings.environment, "SIMGPU_REPORT": str(report)}
            job.start(rank, replace(settings, environment=own))
        for rank, end in job.wait().items():
            if end.code != 0 or end.sums() != {"narrow"}:
                raise Failed(f"rank {rank}: expected narrowed sums, got {end}")
        return [_of_rank(Path(folder, f"report.{rank}")) for rank in range(job.ranks)]


def _of_rank(folder):
    said = [json.loads(path.read_text(encoding="utf-8"))["received_bytes"] for path in folder.glob("*.json")]
    return sum(each["same_node"] for each in said), sum(each["other_nodes"] for each in said)
