"""simgpu_error compares what the software GPU does with what it was asked for, under the load of the eta runs.

A pair of jobs as in eta runs on one machine. On a second one, on the same cores, these are timed: kernels of a known
duration, all-reduces over links of a known speed, and kernels of two processes that run at once, take part of the GPU,
or are limited by MPS. Controls: kernels 5% longer, links 10% slower, the option left out. Pairs of jobs that run freely
are compared with their closed form. Control: the closed form of shared links for jobs with their own links, and the
other way round. Each line names the constants that it was taken with.
"""

import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.quality import constants
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, programs, stats
from testing.machine import Machine, link_speed_for, ring_all_reduce_seconds

_SHAPE = pairs.Shape(0.6, iterations=200)
_KERNEL_MS = {"kernel_1ms": 1.0, "kernel_5ms": 5.0, "kernel_20ms": 20.0}
_BYTES = {"allreduce_4ms": (131072, 4.0), "allreduce_12ms": (131072, 12.0), "allreduce_20ms": (131072, 20.0)}
_PLAIN = Machine(nodes=1, gpus_per_node=1)
_PERCENTAGE = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}


@dataclass(frozen=True)
class _AtOnce:
    """Describes kernels of 20 ms, of `sms` SMs, of `processes` processes that run at once."""

    machine: Machine = _PLAIN
    sms: int = 132
    environment: dict = field(default_factory=dict)
    processes: int = 2


# Each case is (what is asked for, how long each kernel then takes in ms, what is asked for where the option is left
# out).
_AT_ONCE = {"at_once": (_AtOnce(), 40.0, _AtOnce(replace(_PLAIN, co_run=1.1))),
            "co_run_1.25": (_AtOnce(replace(_PLAIN, co_run=1.25)), 32.0, _AtOnce()),
            "co_run_0.9": (_AtOnce(replace(_PLAIN, co_run=0.9)), 40 / 0.9, _AtOnce()),
            "kernels_66_sms": (_AtOnce(sms=66), 20.0, _AtOnce()),
            "kernels_105_sms": (_AtOnce(sms=105), 40 * 105 / 132, _AtOnce()),
            "percentage_50": (_AtOnce(environment=_PERCENTAGE, processes=1), 40.0, _AtOnce(processes=1))}
_FREE = {f"free_pair_{links}": pairs.Shape(0.6, iterations=120, links=links) for links in ("shared", "private")}
SCOPE = "component"
CASES = (*_KERNEL_MS, *_BYTES, *_AT_ONCE, *_FREE)
GOAL_KERNEL, GOAL_ALLREDUCE, GOAL_FREE = Goal("<=", 0.01), Goal("<=", 0.03), Goal("<=", 0.03)
# A kernel's error may instead be this long: shorter kernels cannot be exact to a percent.
_KERNEL_GRACE_US = 50.0


def measure(context, case):
    if case in _FREE:
        yield _free_pair(context, case)
        return
    if case in _AT_ONCE:
        asked, expected_ms, without = _AT_ONCE[case]
        goal, what = GOAL_KERNEL, "a factor of 1.1" if case == "at_once" else "the option left out"
        probe, right, planted = _at_once, (asked, expected_ms), (without, expected_ms)
    elif case in _KERNEL_MS:
        goal, what, probe, right, planted = GOAL_KERNEL, "kernels 5% longer", _kernel, (case, 1.0), (case, 1.05)
    else:
        goal, what, probe, right, planted = GOAL_ALLREDUCE, "links 10% slower", _all_reduce, (case, 1.0), (case, 1.10)
    value, samples = pairs.measured_by(context, Goal(),
                                       lambda: _under_load(context, lambda: probe(context, *right)))
    control = _under_load(context, lambda: probe(context, *planted))
    yield _measured(case, value, goal, samples, controlled(goal, what, control), _SHAPE, "beside ")


def _measured(case, value, goal, samples, control, shape, beside=""):
    return Measured("simgpu_error", case, value, "1", goal, samples, control, beside + shape.condition(),
                    {"constants": constants.digest()}, shape.conditions())


def free_step_ms(compute_ms, exposed_ms, offset_ms, shared):
    """Returns the closed form of a step of two equal jobs that run freely, one `offset_ms` <= c behind the other. They
    share the GPU while both compute, and the link while both communicate (where `shared`)."""
    meet = max(0.0, exposed_ms - offset_ms) if shared else 0.0
    return 2 * compute_ms + exposed_ms - offset_ms + meet


def _free_pair(context, case):
    shape = _FREE[case]
    solo = pairs.solo(context, shape)
    errors = {True: [], False: []}
    for _ in range(context.runs if solo else 0):
        result = pairs.together(context, shape)
        starts = None if result is None else [[i.begin_ns / 1e6 for i in result.job(name).ranks[0].iterations]
                                              for name in ("alpha", "beta")]
        for shared, found in errors.items():
            found.append(None if starts is None else free_error(solo[0], starts, shape.warm_up, shared))
        context.say(f"    off by {errors[shape.links == 'shared'][-1]}")
    shared = shape.links == "shared"
    value, other = (stats.median(e) if e and None not in e else None for e in (errors[shared], errors[not shared]))
    return _measured(case, value, GOAL_FREE, tuple(errors[shared]),
                     controlled(GOAL_FREE, "the closed form of the other kind of links", other), shape)


def free_error(solo, starts, warm_up, shared):
    """Returns by how much the median step of the first job is off its closed form, given how far the other was
    behind."""
    first, second = starts
    steps = []
    for begin, end in zip(first[warm_up:], first[warm_up + 1:]):
        offset = min(min(abs(other - begin) for other in second), solo.compute_ms)
        steps.append((end - begin) / free_step_ms(solo.compute_ms, solo.exposed_ms, offset, shared))
    return abs(stats.median(steps) - 1)


def kernel_error(asked_us, wall_us):
    """Returns the relative error of a kernel's wall time, or 0 where it is within the grace."""
    return 0.0 if abs(wall_us - asked_us) <= _KERNEL_GRACE_US else abs(wall_us / asked_us - 1)


def _under_load(context, probe):
    """Returns `probe`'s answer, taken while a pair of jobs runs, or None where that run was void."""
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


def _at_once(context, asked, expected_ms):
    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-", dir="/dev/shm") as directory:
        environment = {**_environment(context, asked.machine, Path(directory)), **asked.environment}
        command = [context.build.program("probe"), "kernel", 20_000_000, int(1.5e3 / expected_ms), asked.sms]
        answers = programs.json_lines_of_all([(command, environment)] * asked.processes)
    return max(kernel_error(expected_ms * 1e3, rows[0]["wall_us"]["p50"]) for rows in answers)


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
    """Returns the median wall times of all ranks of a probe, in us."""
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
