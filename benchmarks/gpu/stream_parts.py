"""Measures what the words in host memory cost and promise, on which gates and releases rest: items (m) to (q) of
benchmarks/gpu/README.md.
"""

import contextlib

from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import CROWD, NEVER, NONE, YES, figure, loosened, shown
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.ways import each_way, missed, sharing

_CONNECTIONS = (None, 1, 2, 8, 32)
_AS_IN_A_JOB = 4  # streams: compute, copies, collectives, one more
MEMORIES = ("host", "device")  # of the words that clients wait for
# These are pairs of a number of clients, and of streams of each.
_CROWDS = ((0, 1), (1, 1), (1, 8), (2, 1), (3, 1), (3, 8), (5, 1), (7, 1), (7, 8), (10, 1), (14, 1), (14, 8))
_THAT_COMPUTE = 4  # processes of the known-bad variant of crowd
_WAITS_MS = (3_000, 30_000, 120_000)


def releases(rig, connections=_CONNECTIONS):
    """Measures item (m): whether a stream's write of a word waits for the kernel of another stream."""
    def lines_of(way, environment):
        for number in connections:
            extra = {} if number is None else {"CUDA_DEVICE_MAX_CONNECTIONS": number}
            if rig.software and number == 1:
                extra["SIMGPU_FAULT"] = "queues:1"
            name = "default" if number is None else f"connections_{number}"
            for streams in (_AS_IN_A_JOB, rig.pick(24, 8)):
                seen = rig.probe("releases", streams, **environment, **extra)
                unit, more = f"pairs of {seen['pairs']}", {key: seen[key] for key in (
                    "late_of_legacy", "late_behind_legacy")}
                case = f"{way}_{name}_{streams}_streams"
                if streams == _AS_IN_A_JOB and number in (None, 32):
                    yield figure("gpu_releases_held", case, seen["late"], unit, NEVER, (),
                                 ("a write behind the kernel itself", seen["own_late"]),
                                 "writes that wait for the kernel of another stream", **more)
                else:
                    yield shown("gpu_releases_held_beside", case, seen["late"], unit, **more)

    yield from each_way(rig, lines_of, lambda way, reason: missed("gpu_releases_held", way, NEVER, reason, "pairs"))


def long_waits(rig, waits_ms=_WAITS_MS):
    """Measures item (n): whether a wait of seconds is an error, beside a process that computes. All lengths wait at
    once."""
    waits_ms = rig.pick(waits_ms, (300,))

    def lines_of(way, environment):
        before = rig.kernel_faults()
        with children.Program([rig.program("gpu_probe"), "loop", 1000], rig.environment(**environment),
                              rig.work / f"long_waits_{way}.log") as neighbour:
            neighbour.hear(30)
            control = _is_sound(rig.probe("long_wait", 0, **environment))
            waits = [children.Program([rig.program("gpu_probe"), "long_wait", ms], rig.environment(**environment),
                                      rig.work / f"long_wait_{way}_{ms}.log") for ms in waits_ms]
            for ms, wait in zip(waits_ms, waits):
                with wait:
                    seen = wait.hear(ms / 1000 + 30)
                faults = rig.kernel_faults()
                unfaulted = before is None or faults == before
                yield figure("gpu_long_wait", f"{way}_{ms / 1000:g}s", int(_is_sound(seen) and unfaulted), "yes=1", YES,
                             (), ("the word is already there", int(control)),
                             "a stream stands for so long, passes, and its process goes on computing",
                             xids="unknown" if faults is None else faults - before,
                             **{key: seen[key] for key in ("during", "passed", "after")})
            neighbour.process.stdin.close()
            if neighbour.hear(20)["result"] != "CUDA_SUCCESS":
                raise Cannot("the neighbour ended with an error")

    yield from each_way(rig, lines_of, lambda way, reason: missed("gpu_long_wait", way, YES, reason, "yes=1"))


def _is_sound(seen):
    return seen["stood"] and seen["passed"] == "CUDA_SUCCESS" and seen["after"] == "CUDA_SUCCESS"


def litmus(rig, seconds=60):
    """Measures item (o): whether a stream's write and its following wait keep their order, as the host sees it."""
    rounds, seconds = rig.pick(10_000_000, 2_000), rig.pick(seconds, 10)
    with sharing(rig, "timeslice") as environment:
        bad = _litmus(rig, 2_000, 10, "plain", environment | {"SIMGPU_FAULT": "delayed_writes_us:50"}) if (
            rig.software) else _litmus(rig, 100_000, 10, "reversed", environment)
        for order in ("plain", "barrier"):
            seen = _litmus(rig, rounds, seconds, order, environment)
            near = seen["both"] and seen["shut_in_time"]
            if not near and not seen["forbidden"]:  # one forbidden round is an answer, wherever the gate was shut
                raise Cannot(f"{order}: the gate was never shut near the moment at which the stream came: {seen}")
            yield figure("gpu_litmus", order, seen["forbidden"], f"of {seen['rounds']} rounds", NEVER, (),
                         ("the stream writes too late", bad["forbidden"]),
                         "rounds in which a stream passed a shut gate and its write before it was not seen", **seen)


def _litmus(rig, rounds, seconds, order, environment):
    return rig.probe("litmus", rounds, seconds, order, timeout_s=seconds + 30, **environment)


def crowd(rig):
    """Measures item (p): small kernels beside 0 to 14 clients whose streams wait for words, in host memory or in
    device memory that a process outside MPS has exported."""
    def lines_of(way, environment):
        alone = _beside(rig, environment, 0, 1)
        with contextlib.ExitStack() as stack:
            for _ in range(_THAT_COMPUTE):
                stack.enter_context(children.Program([rig.program("gpu_probe"), "loop", 1000],
                                                     rig.environment(**environment),
                                                     rig.work / f"crowd_{way}.log")).hear(30)
            bad = _beside(rig, environment, 0, 1)["step_mean_us"] / alone["step_mean_us"]
        for memory in MEMORIES:
            yield from _crowd_at(rig, way, memory, environment, alone, bad)

    yield from each_way(rig, lines_of, lambda way, reason: missed("gpu_crowd", way, CROWD, reason, "of a step alone"))


def _crowd_at(rig, way, memory, environment, alone, bad):
    worst, unit, goal = 0.0, "of a step alone", loosened(CROWD, rig, 2)
    more = (rig.fresh("no-mps"),) if memory == "device" else ()
    for clients, streams in rig.pick(_CROWDS, ((0, 1), (2, 1))):
        try:
            seen = _beside(rig, environment, clients, streams, *more)
        except Cannot as reason:
            yield missed("gpu_crowd", f"{way}_{memory}", goal, str(reason), unit)
            return
        slower = seen["step_mean_us"] / alone["step_mean_us"]
        worst = max(worst, slower)
        yield shown("gpu_crowd_beside", f"{way}_{memory}_{clients}x{streams}", slower, unit,
                    null_kernels=seen["null_per_s"] / alone["null_per_s"], step_us=seen["step_us"])
    yield figure("gpu_crowd", f"{way}_{memory}", worst, unit, goal, (),
                 (f"beside {_THAT_COMPUTE} processes that compute", bad),
                 f"20 kernels of 5 us beside clients that stand still, at words in {memory} memory")


def _beside(rig, environment, clients, streams, *more):
    # On the software GPU the threads of other processes disturb a short run.
    runs = [rig.probe("crowd", clients, streams, rig.pick(400, 80), *more, **environment)
            for _ in range(3 if rig.software else 1)]
    return min(runs, key=lambda seen: seen["step_mean_us"])


def joins(rig):
    """Shows item (q): the worst step while a helper thread sets up what turns need."""
    def lines_of(way, environment):
        seen = rig.probe("joins", rig.pick(1000, 60), **environment)
        yield shown("gpu_join_step_ms", way, seen["joining_us"]["max"] / 1e3, "ms, the worst step while joining",
                    quiet_ms={key: seen["quiet_us"][key] / 1e3 for key in ("p50", "p99", "max")},
                    joining_p50_ms=seen["joining_us"]["p50"] / 1e3)

    yield from each_way(rig, lines_of, lambda way, reason: missed("gpu_join_step_ms", way, NONE, reason, "ms"))


PARTS = (
    Part("releases", 180, releases, (Promise("gpu_releases_held", NEVER, "pairs"),), True),
    Part("long_waits", 330, long_waits, (Promise("gpu_long_wait", YES, "yes=1"),), True),
    Part("litmus", 180, litmus, (Promise("gpu_litmus", NEVER),), True),
    Part("crowd", 240, crowd, (Promise("gpu_crowd", CROWD),), True),
    Part("joins", 60, joins, (Promise("gpu_join_step_ms", NONE, "ms"),), True),
)
