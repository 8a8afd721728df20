"""Measures how long a GPU changes hands, through what ships, and what a signal costs that a CPU causes: item (i) of
benchmarks/gpu/README.md.
"""

import contextlib

from benchmarks.gpu import children, turns
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import (HANDOVER_P99_US, HANDOVER_US, LOOK_US, OPENING_US, figure, loosened, shown)
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.ways import each_way, missed

_LEGACY = {"GPU_STREAM": "legacy"}  # the stream on which PyTorch computes
_HOLD_US = 300
_BUSY = (0, 1, 3)  # processes that compute
# The gates that a way is judged by. The others are fallbacks. In time slices the library takes no signals.
_JUDGED = (("mps", "gpu"), ("mps", "ipc"), ("timeslice", "gpu"))
_SELDOM_US = 20_000  # between two looks of a signaller that hears no CPU
_NAMESPACES = {"same": "one PID namespace", "apart": "two PID namespaces"}


def handover(rig):
    """Measures item (i): the time from the end of one process's last kernel to the start of the other's first, and
    from the opening of a gate by a CPU until its stream goes on."""
    def lines_of(way, environment):
        # In time slices a turn and its hand-over last milliseconds, and the host of the known-bad variant looks rarely.
        count = rig.pick(2000 if way == "mps" else 200, 100 if way == "mps" else 40)
        shape = turns.Shape(count, _HOLD_US)
        slow = turns.Shape(min(count, 200), _HOLD_US, LOOK_US[way])
        bad = _seen(rig, environment, "gpu", "same", slow)
        for gates in (gates for gates in turns.GATES if way == "mps" or gates != "ipc"):
            yield from _handover(rig, way, gates, shape, environment, bad)
        yield _beside(f"{way}_gpu_same_legacy", "same", _seen(rig, environment | _LEGACY, "gpu", "same", shape))
        yield from _openings(rig, way, environment)

    yield from each_way(rig, lines_of, _refusals(rig))


def _refusals(rig):
    """Returns what makes the line of a way that cannot be had."""
    return lambda way, reason: missed("gpu_handover_us", way, loosened(HANDOVER_US[way], rig, _factor(way, 4)), reason,
                                      "us")


def _factor(way, factor):
    """Returns how much longer a time may be on the software GPU, where threads of the host hand over."""
    return factor if way == "mps" else 1


def _handover(rig, way, gates, shape, environment, bad):
    seen = {place: _seen(rig, environment, gates, place, shape) for place in turns.PLACES}
    for place, one in seen.items():
        yield _beside(f"{way}_{gates}_{place}", place, one)
    if (way, gates) not in _JUDGED:
        return
    same = seen["same"]
    more = {"reason": same["refused"]} if "refused" in same else {"handovers": same["handovers"], "hold_us": _HOLD_US}
    for suffix, quantile, goals, factor in (("", "p50", HANDOVER_US, 4), ("_p99", "p99", HANDOVER_P99_US, 3)):
        yield figure("gpu_handover_us" + suffix, f"{way}_{gates}", same[quantile], "us",
                     loosened(goals[way], rig, _factor(way, factor)), (),
                     (f"a host that looks every {LOOK_US[way]} us whether its stream is done, and then releases",
                      bad[quantile]),
                     "end of a turn to the start of the other process's", **more)


def _seen(rig, environment, gates, place, shape):
    """Returns what turns.measure() returns, or no times and the reason."""
    try:
        return turns.measure(rig, environment, gates, place, shape)
    except Cannot as reason:
        return {"p50": None, "p99": None, "refused": str(reason)}


def _beside(case, place, seen):
    more = {name: value for name, value in seen.items() if name != "p50"}
    return shown("gpu_handover_us_beside", case, seen["p50"], "us at the median", place=_NAMESPACES[place], **more)


def _openings(rig, way, environment):
    """Measures how long after a CPU has opened a gate the stream goes on that waits there, beside processes that
    compute: by its gate alone, and by the signal that the signaller copies. A hand-over between streams needs no copy.
    """
    no_mps = rig.fresh("no-mps")

    def seen(how, *more):
        return rig.probe("openings", rig.pick(400, 30), how, *more, **environment)["opening_us"]

    for busy in _BUSY:
        case = f"{way}_{busy}_busy"
        try:
            with contextlib.ExitStack() as stack:
                for _ in range(busy):
                    stack.enter_context(children.Program([rig.program("gpu_probe"), "loop", 1000],
                                                         rig.environment(**environment),
                                                         rig.work / f"busy_{way}.log")).hear(30)
                gate, signal = seen("gate"), seen("follow", no_mps)
                bad = seen("look", no_mps, _SELDOM_US) if busy == _BUSY[-1] else None
        except Cannot as reason:
            yield missed("gpu_opening_us", case, OPENING_US, str(reason), "us")
            continue
        yield shown("gpu_opening_us_beside", f"{case}_gate", gate["p50"], "us at the median", p99=gate["p99"])
        control = (f"a signaller that hears no CPU and looks every {_SELDOM_US} us", bad["p50"]) if bad else None
        yield figure("gpu_opening_us", case, signal["p50"], "us", OPENING_US, (), control,
                     "from the opening of a gate by a CPU until its stream has passed by the signal", p99=signal["p99"],
                     busy=busy)


PARTS = (
    Part("handover", 300, handover, (Promise("gpu_handover_us", HANDOVER_US["mps"], "us"),
                                     Promise("gpu_opening_us", OPENING_US, "us")), True),
)
