"""simgpu_error: what the software GPU does against what it was asked for, under the load of the eta runs.

A pair of jobs as in eta runs on one machine; on a second one, on the same cores, kernels of a known duration and
all-reduces over links of a known speed are timed. Controls: kernels 5% longer, links 10% slower.
"""

import os
import tempfile
from pathlib import Path

from benchmarks import pairs, programs, stats
from benchmarks.machine import Machine, link_speed_for, ring_all_reduce_seconds
from benchmarks.results import Goal, Measured, controlled

_SHAPE = pairs.Shape(0.6, iterations=200)
_KERNEL_MS = {"kernel_1ms": 1.0, "kernel_5ms": 5.0, "kernel_20ms": 20.0}
_BYTES = {"allreduce_4ms": (131072, 4.0), "allreduce_12ms": (131072, 12.0), "allreduce_20ms": (131072, 20.0)}
SCOPE = "component"
CASES = (*_KERNEL_MS, *_BYTES)
GOAL_KERNEL, GOAL_ALLREDUCE = Goal("<=", 0.01), Goal("<=", 0.03)
# A kernel's error may instead be this long: shorter kernels cannot be exact to a percent.
_KERNEL_GRACE_US = 50.0


def measure(context, case):
    kernel = case in _KERNEL_MS
    goal = GOAL_KERNEL if kernel else GOAL_ALLREDUCE
    probe, planted = (_kernel, 1.05) if kernel else (_all_reduce, 1.10)
    value, samples = pairs.median_of(context, lambda: _under_load(context, lambda: probe(context, case, 1.0)))
    control = _under_load(context, lambda: probe(context, case, planted))
    yield Measured("simgpu_error", case, value, "1", goal, samples,
                   controlled(goal, "kernels 5% longer" if kernel else "links 10% slower", control),
                   f"beside {_SHAPE.condition()}", {}, _SHAPE.conditions())


def kernel_error(asked_us, wall_us):
    """Relative error of a kernel's wall time; none if it is within the grace."""
    return 0.0 if abs(wall_us - asked_us) <= _KERNEL_GRACE_US else abs(wall_us / asked_us - 1)


def _under_load(context, probe):
    """`probe`'s answer, taken while a pair of jobs runs; None if that run was void."""
    answers = []

    def during(session):
        session.wait_for_iterations(20)
        answers.append(probe())

    result = pairs.together(context, _SHAPE, context.build.library, during=during)
    return answers[-1] if result and answers else None


def _kernel(context, case, stretch):
    asked_us = _KERNEL_MS[case] * 1e3
    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-", dir="/dev/shm") as directory:
        environment = _environment(context, Machine(nodes=1, gpus_per_node=1), Path(directory))
        count = int(1.5e6 / asked_us)
        run = programs.json_lines([context.build.program("probe"), "kernel", round(asked_us * 1e3 * stretch), count],
                                  environment)[0]
    return kernel_error(asked_us, run["wall_us"]["p50"])


def _all_reduce(context, case, slower):
    payload, wished_ms = _BYTES[case]
    speed = link_speed_for(wished_ms / 1e3, payload, 4)
    machine = Machine(node_link_bytes_per_s=speed / slower)
    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-", dir="/dev/shm") as directory:
        environment = _environment(context, machine, Path(directory))
        command = [context.build.program("probe"), "allreduce", payload, int(2e3 / wished_ms), directory]
        walls = _ranks(command, environment, machine)
    expected_us = ring_all_reduce_seconds(payload, machine.ranks, speed) * 1e6
    return abs(stats.median(walls) / expected_us - 1)


def _ranks(command, environment, machine):
    """Median wall times in us of all ranks of a probe."""
    ranks = []
    for number in range(machine.ranks):
        node, gpu = machine.place(number)
        ranks.append((command, {**environment, "RANK": str(number), "WORLD_SIZE": str(machine.ranks),
                                "LOCAL_RANK": str(gpu), "SIMGPU_NODE": str(node)}))
    return [answers[0]["wall_us"]["p50"] for answers in programs.json_lines_of_all(ranks)]


def _environment(context, machine, directory):
    config = directory / "machine.yaml"
    config.write_text(machine.yaml(directory / "machine"), encoding="utf-8")
    return {**os.environ, "LD_LIBRARY_PATH": str(context.build.gpu_libraries), "SIMGPU_CONFIG": str(config)}
