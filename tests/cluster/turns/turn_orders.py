"""Tells in which order two jobs had their turns, from an arbiter's trace. It counts events and measures no durations.
Pure."""

_ENOUGH, _MOST = 60, 0.8


def alternate(trace, gangs, uuids):
    """Tells whether on each GPU most turns of one job are followed by one of the other."""
    return all(_mostly(_changes(trace, gangs, uuid)) for uuid in uuids)


def hide(trace, gangs, uuids):
    """Tells whether on each GPU most turns begin while the other job is away: its turn is over, and it does not wait
    for the next one yet. Jobs that run one after the other do not do that, nor do turns that last until a collective
    has ended."""
    return all(_mostly(_others_away(trace, gangs, uuid)) for uuid in uuids)


def _mostly(found):
    return len(found) >= _ENOUGH and sum(found) >= _MOST * len(found)


def _changes(trace, gangs, uuid):
    holds = [event.gang for event in trace if event.gpu == uuid and event.event == "hold" and event.gang in gangs]
    return [one != other for one, other in zip(holds, holds[1:])]


def _others_away(trace, gangs, uuid):
    """Tells for each turn whether all other jobs had given theirs back. Events of one look of the arbiter count as
    simultaneous."""
    found, last, looks = [], {}, {}
    for event in trace:
        if event.gpu == uuid and event.gang in gangs:
            looks.setdefault(event.t_ns, []).append(event)
    for _, seen in sorted(looks.items()):
        last.update((event.gang, event.event) for event in seen if event.event in ("arrive", "hold", "release"))
        for event in seen:
            if event.event == "hold":
                others = [state for gang, state in last.items() if gang != event.gang]
                found.append(bool(others) and all(state == "release" for state in others))
    return found
