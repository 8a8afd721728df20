"""Trains the digits of examples/data with the example trainer on software GPUs: four ranks, each on a node of its own.
Kernels take no time, so a run is as fast as its arithmetic and what the ranks send each other. SGD has no momentum: a
residual reaches the parameters some iterations late, and momentum would carry it on."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from benchmarks.runner.kept import TREE
from testing import stats
from testing.machine import Machine
from testing.processes import Failed

RANKS, BATCH, ITERATIONS, RATE_OF_ONE_RANK = 4, 8, 300, 0.05
_LAST = 60  # iterations whose losses count
_MACHINE = Machine(nodes=RANKS, gpus_per_node=1, node_link_bytes_per_s=1e9)
_PATIENCE_S = 300


@cache
def loss(build, seed, rate, reduction, fault="none"):
    """Returns the mean loss of all ranks in the last iterations. Raises Failed where ranks fail, or end with different
    parameters."""
    with tempfile.TemporaryDirectory(prefix="digits-") as name:
        folder = Path(name)
        config = folder / "machine.yaml"
        config.write_text(_MACHINE.yaml(folder / "state"), encoding="utf-8")
        command = [sys.executable, TREE / "examples" / "trainer" / "launch.py", f"--nodes={RANKS}", "--trainer",
                   build.trainer, "--lib-dir", build.gpu_libraries, "--log-dir", folder / "logs", "--quiet", "--",
                   f"--seed={seed}", f"--batch={BATCH}", f"--iterations={ITERATIONS}", "--compute-ms=0",
                   "--momentum=0", f"--learning-rate={rate:g}", f"--reduction={reduction}",
                   f"--reduction-fault={fault}"]
        done = subprocess.run([str(word) for word in command], env={**os.environ, "SIMGPU_CONFIG": str(config)},
                              capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        if done.returncode != 0:
            said = (folder / "logs" / "rank0.out").read_text(encoding="utf-8").strip()
            raise Failed(f"trainer --reduction={reduction}: {done.stderr.strip()}; rank 0: {said}")
        return stats.mean([stats.mean(_losses(folder / "logs" / f"rank{rank}.jsonl")) for rank in range(RANKS)])


def _losses(log):
    lines = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()]
    return [float.fromhex(line["loss"]) for line in lines if "iteration" in line][-_LAST:]
