"""Finds turns in the arbiters' trace events. Pure."""

from dataclasses import dataclass


GATE = "gate"  # the mode of clients that take turns


@dataclass(frozen=True)
class Turn:
    """Holds one turn of one client: when it was asked for, held, and given back."""

    gpu: str
    slot: int
    gang: str
    asked_ns: int
    begin_ns: int
    end_ns: int

    @property
    def waited_ms(self):
        return (self.begin_ns - self.asked_ns) / 1e6

    @property
    def held_ms(self):
        return (self.end_ns - self.begin_ns) / 1e6


def turns_of(events):
    """Returns complete turns, by GPU and then by time. A turn cut by the trace's beginning or end is left out. A turn
    ends when its client is told not to wait any more."""
    asked, held, done = {}, {}, []
    for event in events:
        client = (event.gpu, event.slot)
        if event.event == "arrive":
            asked[client] = event.t_ns
        elif event.event == "hold":
            held[client] = event.t_ns
        elif event.event == "release" and client in held:
            begin = held.pop(client)
            done.append(Turn(event.gpu, event.slot, event.gang, asked.pop(client, begin), begin, event.t_ns))
        elif event.event == "mode" and event.mode != GATE:
            begin, asked_ns = held.pop(client, None), asked.pop(client, None)
            if begin is not None:
                done.append(Turn(event.gpu, event.slot, event.gang, asked_ns or begin, begin, event.t_ns))
        elif event.event in ("join", "leave"):
            asked.pop(client, None)
            held.pop(client, None)
    return sorted(done, key=lambda t: (t.gpu, t.begin_ns))


def without_turns(events):
    """Returns the part of the time that gangs shared a GPU in which they were told not to take turns, over all GPUs."""
    modes, since, shared_ns, free_ns = {}, {}, 0, 0
    for event in sorted(events, key=lambda e: e.t_ns):
        there = {client: mode for client, mode in modes.items() if client[0] == event.gpu}
        if len(there) > 1:
            shared_ns += event.t_ns - since[event.gpu]
            free_ns += (event.t_ns - since[event.gpu]) * all(mode != GATE for mode in there.values())
        since[event.gpu] = event.t_ns
        client = (event.gpu, event.slot)
        if event.event in ("join", "mode"):
            modes[client] = event.mode or GATE
        elif event.event == "leave":
            modes.pop(client, None)
    return free_ns / shared_ns if shared_ns else 0.0


def gangs_of(turns):
    """Returns the gang names in the order in which every arbiter sorts them."""
    return sorted({t.gang for t in turns})


def gpus_of(turns):
    return sorted({t.gpu for t in turns})


def steady_window(turns, length_ns):
    """Returns a window of `length_ns` inside the part of the trace in which all gangs take turns. It is the window with
    the most turns. Of windows that have nearly as many, it is the one nearest to 0.6 of the way in."""
    begin = max(min(t.begin_ns for t in turns if t.gang == gang) for gang in gangs_of(turns))
    end = min(max(t.end_ns for t in turns if t.gang == gang) for gang in gangs_of(turns))
    if end - begin <= length_ns:
        return begin, begin + length_ns
    starts = [begin + int((end - begin - length_ns) * part / 20) for part in range(21)]
    within = {start: sum(start <= t.begin_ns < start + length_ns for t in turns) for start in starts}
    full = [start for start in starts if within[start] >= 0.9 * max(within.values())]
    start = min(full, key=lambda one: abs(one - begin - 0.6 * (end - begin - length_ns)))
    return start, start + length_ns


# The arbiters look once a millisecond, and the giver of a turn opens the next gate before it writes that it gave. A
# shorter overlap may have been no overlap.
BLUR_MS = 3


def overlaps_ms(turns):
    """Returns for how long a GPU's turns went on beside later ones, in ms, longest first, if that is more than
    BLUR_MS. Each needs an explanation. On a software GPU one is a giver that loses its core between its two writes."""
    overlaps = []
    for gpu in gpus_of(turns):
        held_until = 0
        for turn in sorted((t for t in turns if t.gpu == gpu), key=lambda t: t.begin_ns):
            overlaps.append((min(held_until, turn.end_ns) - turn.begin_ns) / 1e6)
            held_until = max(held_until, turn.end_ns)
    return sorted((ms for ms in overlaps if ms > BLUR_MS), reverse=True)
