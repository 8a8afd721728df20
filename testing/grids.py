"""Runs grid_product (examples/grid) on the software GPU, and has the formulas of its volumes once more."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from testing.commands import rank_environment
from testing.ports import free_port
from testing.processes import Failed

_PATIENCE_S = 120
_FLOAT = 4  # bytes


@dataclass(frozen=True)
class Shape:
    """A grid of q x q x d ranks, and the sizes of the matrices: X has rows x inner elements, A inner x columns."""

    q: int
    d: int
    rows: int = 64
    inner: int = 64
    columns: int = 64

    @property
    def ranks(self):
        return self.q * self.q * self.d

    def flags(self):
        return [f"--q={self.q}", f"--d={self.d}", f"--rows={self.rows}", f"--inner={self.inner}",
                f"--columns={self.columns}"]

    # These are the bytes of a block of X and of one of A.
    @property
    def x_block(self):
        return self.rows * self.inner * _FLOAT // (self.d * self.q ** 2)

    @property
    def a_block(self):
        return self.inner * self.columns * _FLOAT // self.q ** 2

    # These are the bytes that a rank gets in one iteration: along its row, along its column, and through the layers. In
    # each of the three products it gets the q - 1 other blocks of X of its row, or as many partial sums of such a
    # block; and the same of A along its column. NCCL's ring sums up a block of A through the layers.
    @property
    def along_row(self):
        return 3 * (self.q - 1) * self.x_block

    @property
    def along_column(self):
        return 3 * (self.q - 1) * self.a_block

    @property
    def through_layers(self):
        return 2 * (self.d - 1) * self.a_block // self.d

    @property
    def received(self):
        return self.along_row + self.along_column + self.through_layers

    def least_uplink(self, gpus):
        """Returns the bytes that a node of `gpus` GPUs gets from others in one iteration if it has a layer, a row or a
        column, or a part of the only ring."""
        if self.q == 1:
            return self.through_layers
        if self.d == 1:
            return gpus * min(self.along_row, self.along_column)
        return gpus * self.through_layers

    def groups(self, numbering):
        """Returns what the ranks call in one iteration, as a JobProfile has it: the root of a call is the first of its
        members. `numbering` is that of grid_product."""
        rank_of = {self.place(rank, numbering): rank for rank in range(self.ranks)}
        sides, layers = range(self.q), range(self.d)
        lines = [([rank_of[row, column, layer] for column in sides], self.x_block) for row in sides for layer in layers]
        lines += [([rank_of[row, column, layer] for row in sides], self.a_block)
                  for column in sides for layer in layers]
        groups = []
        for members, size in lines if self.q > 1 else []:
            for root in sides:
                turned = members[root:] + members[:root]
                groups += [{"function": "Broadcast", "members": turned, "bytes": 2 * size},
                           {"function": "Reduce", "members": turned, "bytes": size}]
        stacks = [[rank_of[row, column, layer] for layer in layers] for row in sides for column in sides]
        return groups + [{"function": "AllReduce", "members": stack, "bytes": self.a_block}
                         for stack in stacks if self.d > 1]

    def place(self, rank, numbering):
        """Returns (row, column, layer) of a rank."""
        square = self.q ** 2
        layer, within = divmod(rank, square) if numbering == "rows" else divmod(rank, self.d)[::-1]
        return (*divmod(within, self.q), layer)


@dataclass(frozen=True)
class Outcome:
    """An Outcome has what a rank said, and the bytes that the software NCCL counted for it."""

    said: dict
    same_node: int
    other_nodes: int

    @property
    def wrong(self):
        return sum(self.said["wrong"].values())

    @property
    def received(self):
        return self.same_node + self.other_nodes


def run(build, machine, shape, *flags, iterations=3):
    """Runs a job that uses each GPU of `machine` once, and returns the Outcome of each rank. A wrong result is no
    failure."""
    with tempfile.TemporaryDirectory(prefix="grid-") as folder:
        return _run(build, machine, shape, [f"--iterations={iterations}", *flags], Path(folder))


def _run(build, machine, shape, flags, folder):
    config = folder / "machine.yaml"
    config.write_text(machine.yaml(folder / "state"), encoding="utf-8")
    port, ranks = free_port(), []
    for rank in range(machine.ranks):
        reports = folder / f"reports{rank}"
        reports.mkdir()
        environment = {**os.environ, **rank_environment(machine, rank, "127.0.0.1", port), "SIMGPU_CONFIG": str(config),
                       "SIMGPU_REPORT": str(reports), "LD_LIBRARY_PATH": str(build.gpu_libraries)}
        command = [build.program("grid_product"), *shape.flags(), f"--log={folder / f'rank{rank}.json'}", *flags]
        ranks.append(subprocess.Popen([str(word) for word in command], env=environment, stderr=subprocess.PIPE,
                                      text=True))
    try:
        said = [process.communicate(timeout=_PATIENCE_S)[1] for process in ranks]
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    for rank, (process, words) in enumerate(zip(ranks, said)):
        if not (folder / f"rank{rank}.json").exists():
            raise Failed(f"rank {rank} of grid_product ended with {process.returncode}: {words.strip()}")
    return [_outcome(folder, rank) for rank in range(len(ranks))]


def _outcome(folder, rank):
    """Each library of a process writes a report of its own."""
    reports = [json.loads(path.read_text()) for path in sorted((folder / f"reports{rank}").iterdir())]
    same, other = (sum(report["received_bytes"][key] for report in reports) for key in ("same_node", "other_nodes"))
    return Outcome(json.loads((folder / f"rank{rank}.json").read_text()), same, other)
