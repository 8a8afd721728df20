"""Trains a small transformer on the CPU with the reductions of examples/reductions: four ranks, which are threads of
one program (benchmarks/quality/transformer)."""

import os
from functools import cache

from testing import programs
from testing.processes import Failed

RANKS, BATCH, ITERATIONS, RATE_OF_ONE_RANK = 4, 4, 300, 0.125
_PATIENCE_S = 300


@cache
def loss(build, seed, rate, reduction, fault="none"):
    """Returns the loss of held-out sequences after ITERATIONS. Raises Failed where the ranks end with different
    parameters."""
    command = [build.program("reduced_transformer"), reduction, fault, seed, ITERATIONS, f"{rate:g}"]
    (said,) = programs.json_lines(command, dict(os.environ), _PATIENCE_S)
    if not said["equal"]:
        raise Failed(f"{reduction}: the ranks ended with different parameters")
    return said["loss"]
