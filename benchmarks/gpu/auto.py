"""Says which transport of turns is better on a GPU, for the table of `transport: auto` that a release has. Signals are
for clients of MPS, so what was measured under MPS counts. Pure.
"""

from benchmarks.gpu.figures import OPENING_US

_HANDOVER, _CROWD, _OPENING = "gpu_handover_us", "gpu_crowd", "gpu_opening_us"
_BUSIEST = "mps_3_busy"
_SAME = 0.05  # of a time: a smaller difference is none
COLUMNS = ("GPU", "transport", "hand-over by host words", "by signals", "small kernels beside host words", "signals",
           "a CPU's opening by a signal")


def words(entries, gpu, software=False):
    """Returns sentences: which transport `auto` is to be on this GPU and why, then the row of the release's table.
    `entries` are lines of results. Returns none where nothing of it was asked for."""
    seen = _Seen(entries)
    if not seen.asked():
        return []
    transport, why = choose(seen)
    said = [f"`transport: auto` is {transport} on {gpu}: {why}."]
    if software:
        return [*said, "No row of a release comes of it: threads of the host play the software GPU."]
    if seen.lacking():
        return [*said, "No row of a release comes of it: ask ONLY=handover,crowd where there is MPS."]
    row = (gpu, transport, _us(seen.handover("gpu")), _us(seen.handover("ipc")), _ratio(seen.crowd("host")),
           _ratio(seen.crowd("device")), _us(seen.opening()))
    return [*said, f"The row for `transport: auto` ({', '.join(COLUMNS)}): | {' | '.join(row)} |"]


class _Seen:
    """Holds the values by figure and case."""

    def __init__(self, entries):
        self._values = {(entry["figure"], entry["case"]): entry["value"] for entry in entries}

    def asked(self):
        return any(figure in (_HANDOVER, _CROWD, _OPENING) for figure, _ in self._values)

    def handover(self, gates):
        return self._values.get((_HANDOVER, f"mps_{gates}"))

    def crowd(self, memory):
        return self._values.get((_CROWD, f"mps_{memory}"))

    def opening(self):
        return self._values.get((_OPENING, _BUSIEST))

    def lacking(self):
        """Returns the names of what was not measured."""
        return [name for name, value in (("hand-over by host words", self.handover("gpu")),
                                         ("hand-over by signals", self.handover("ipc")),
                                         ("clients that wait in host memory", self.crowd("host")),
                                         ("clients that wait in device memory", self.crowd("device")),
                                         ("signals that a CPU causes", self.opening())) if value is None]


def choose(seen):
    """Returns the better transport, and why. Host words stay where signals do not gain in one thing, or lose in
    another: signals cost two contexts of the GPU."""
    host, ipc = seen.handover("gpu"), seen.handover("ipc")
    beside_host, beside_ipc = seen.crowd("host"), seen.crowd("device")
    opening = seen.opening()
    if seen.lacking():
        return "host", f"not measured under MPS: {', '.join(seen.lacking())}"
    facts = (f"a hand-over takes {_us(ipc)} by signals and {_us(host)} by host words; beside blocked clients small "
             f"kernels take {_ratio(beside_ipc)} of their time alone with signals and {_ratio(beside_host)} with host "
             f"words; beside three busy clients a gate that a CPU opens lets its stream on after {_us(opening)}")
    if not OPENING_US.met_by(opening):
        return "host", f"the signaller's copy waits beside busy clients: {facts}"
    changes = (_change(ipc, host), _change(beside_ipc, beside_host))
    if max(changes) > _SAME:
        return "host", f"signals cost more than they gain: {facts}"
    if min(changes) >= -_SAME:
        return "host", f"signals gain nothing: {facts}"
    return "ipc", facts


def _change(value, reference):
    return value / reference - 1


def _us(value):
    return "not measured" if value is None else f"{value:.3g} us"


def _ratio(value):
    return "not measured" if value is None else f"{value:.3f}"
