"""Runs jobs whose all-reduces are narrowed, and asks the extender's code which level it chooses for such a job."""

from dataclasses import replace

from benchmarks.turns import narrowed
from testing import pairs
from testing.programs import json_lines

LEVELS = ("bf16", "q8")
_NO_TIME = 1e11  # bytes in a second
_KERNELS = {"bf16": 2, "q8": 3}  # of a call, each of 0.02 ms (tests/process/shrink/host_kernels.image)
_KERNEL_MS = 0.02
_OFF = "off:"


def choice(context, shape, solo):
    """Returns (what the extender chooses for one of the shape's jobs, why). `solo` is what one of them does alone and
    plain. Raises Failed if the extender's code says nothing."""
    nodes = shape.used_nodes()
    on_link_ms = solo.exposed_ms if shape.links == "shared" else 0.0
    times = (f"{ms / 1e3:.6f}" for ms in (solo.compute_ms, solo.exposed_ms, on_link_ms))
    command = [context.build.program("shrink_choice"), *times, nodes, shape.ranks // nodes, shape.jobs,
               shape.gradient_bytes // 4]
    (chosen,) = json_lines(command, {})
    context.say(f"    the extender chooses {chosen['choice']}: {chosen['why']}")
    return chosen["choice"], chosen["why"]


def level_of(chosen):
    """Returns the level of a choice; "" if calls stay plain."""
    return "" if chosen.startswith(_OFF) else chosen


def narrowings(context, shape, solo, levels):
    """Returns {level: Narrowing}, also of "": no narrowing; None where a run was void or failed. The codec's time is
    what it adds to an iteration over links that take no time."""
    found = {"": narrowed.NONE}
    fast = replace(shape, ratio=shape.ratio * shape.machine().node_link_bytes_per_s / _NO_TIME, jobs=1)
    without = pairs.solo(context, fast)
    nodes = shape.used_nodes()
    for level in levels:
        with_ms = without and cycle_ms(context, fast, level)
        if not with_ms:
            return None
        kernels_ms = _KERNELS[level] * _KERNEL_MS
        codec_ms = max(kernels_ms, with_ms - without[0].step_ms)
        ratio = narrowed.ratio(level, shape.gradient_bytes // 4, nodes, shape.ranks // nodes)
        found[level] = narrowed.Narrowing(ratio, codec_ms, kernels_ms)
    return found


def cycle_ms(context, shape, level, chosen="", node="node{node}"):
    """Returns the cycle of all jobs of a shape, with turns if there are two. `level` may be empty: nothing is narrowed.
    With auto, `chosen` is what the extender chose. `node` is what the ranks call their node. Returns None where a run
    was void or failed, or where the library says that a job does not do as asked."""
    build = context.build
    front = (build.shrink_library, build.test_library("shrink_host_kernels", "tests/process/shrink")) if level else ()
    environment = {"NCCL_HOSTID": node, "CROSSOVER_SHRINK": level,
                   "CROSSOVER_SHRINK_IMAGE": f"{build.top}/tests/process/shrink/host_kernels.image",
                   **({"CROSSOVER_SHRINK_CHOICE": chosen} if chosen else {})}
    if shape.jobs == 1:
        result = pairs.alone(context, shape, environment=environment, front=front)
    else:
        result = pairs.together(context, shape, build.library, environment=environment, front=front)
    if result is None:
        return None
    plain = [line for texts in result.said.values() for text in texts for line in text.splitlines()
             if "crossover: shrink" in line]
    if plain:
        context.fail(f"expected jobs that do as {level} says, got '{plain[0]}'")
        return None
    if shape.jobs == 1:
        return next(iter(result.jobs.values())).step_ms(shape.warm_up)
    begin, end = pairs.window(shape, result)
    cycles = [job.cycle_ms_within(begin, end) for job in result.jobs.values()]
    return sum(cycles) / len(cycles)
