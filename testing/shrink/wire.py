"""Says how many bytes an all-reduce with 8 bits moves, by its formula and by the software NCCL, which counts what each
rank receives. The formula is written anew here: it knows nothing of the library."""

import json
import tempfile
from pathlib import Path

from testing.processes import Failed
from testing.shrink.job import Job, RankSettings

COUNT = 100_003  # elements of each call of tests/process/shrink/rank.cc
_BUCKET = 512
_CALLS = 2  # by which the scenario `thrice` has more than `sum`


def _parts(count, parts):
    """Returns the sizes of the parts of a buffer: whole buckets, all of one length but the last ones."""
    length = -(-(-(-count // _BUCKET)) // parts) * _BUCKET
    return [max(0, min(count - part * length, length)) for part in range(parts)]


def _encoded(count):
    whole, rest = divmod(count, _BUCKET)
    return whole * (_BUCKET + 8) + (rest + 8 if rest else 0)


def formula(count, nodes, per_node):
    """Returns (bytes of each rank from other nodes, bytes of all ranks from their own nodes)."""
    from_others = []
    for node in range(nodes):
        for shard in _parts(count, per_node):
            chunks = list(map(_encoded, _parts(shard, nodes)))
            from_others.append((nodes - 1) * chunks[node] + sum(chunks) - chunks[node])
    return from_others, nodes * 2 * (per_node - 1) * count * 4


def counted(build, nodes):
    """Returns the same as formula(), of one call of a job. `nodes` has the node of each rank. Raises Failed where a
    rank fails or a sum is not narrowed."""
    few, many = _received(build, nodes, "sum"), _received(build, nodes, "thrice")
    each = [tuple((more - less) / _CALLS for less, more in zip(*both)) for both in zip(few, many)]
    return [others for _, others in each], sum(same for same, _ in each)


def _received(build, nodes, scenario):
    with tempfile.TemporaryDirectory() as folder, Job(build, folder, len(nodes), scenario, nodes) as job:
        for rank in range(job.ranks):
            report = Path(folder, f"report.{rank}")
            report.mkdir()
            job.start(rank, RankSettings(shrink="q8", environment={"SIMGPU_REPORT": str(report)}))
        for rank, end in job.wait().items():
            if end.code != 0 or end.sums() != {"narrow"}:
                raise Failed(f"rank {rank}: expected narrowed sums, got {end}")
        return [_of_rank(Path(folder, f"report.{rank}")) for rank in range(job.ranks)]


def _of_rank(folder):
    said = [json.loads(path.read_text(encoding="utf-8"))["received_bytes"] for path in folder.glob("*.json")]
    return sum(each["same_node"] for each in said), sum(each["other_nodes"] for each in said)
