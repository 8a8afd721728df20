"""Writes a trace that Perfetto and chrome://tracing open: GPUs with their holders, jobs with their iterations. Pure."""

from tools.demo.timeline import short_name
from tools.demo.turns import gpus_of, turns_of


def chrome_trace(events, job_logs):
    """Returns the Chrome trace event format as a dict. Timestamps are in microseconds from the first event on."""
    turns = turns_of(events)
    starts = [e.t_ns for e in events] + [i.begin_ns for j in job_logs for r in j.ranks for i in r.iterations[:1]]
    origin = min(starts, default=0)
    entries = []
    for number, gpu in enumerate(gpus_of(turns), 1):
        entries.append(_name("process_name", number, 0, short_name(gpu)))
        entries += _gpu_tracks(number, [t for t in turns if t.gpu == gpu], origin)
        entries += _instants(number, [e for e in events if e.gpu == gpu], origin)
    for number, job in enumerate(job_logs, 1001):
        entries.append(_name("process_name", number, 0, f"job {job.name}"))
        entries += _iteration_tracks(number, job, origin)
    return {"displayTimeUnit": "ms", "traceEvents": entries}


def _gpu_tracks(process, turns, origin):
    """Returns for each client a track of its turns, and one of its waits."""
    entries = []
    for slot, gang in sorted({(t.slot, t.gang) for t in turns}):
        hold, wait = 2 * slot + 1, 2 * slot + 2
        entries.append(_name("thread_name", process, hold, f"{gang} holds"))
        entries.append(_name("thread_name", process, wait, f"{gang} waits"))
        for turn in turns:
            if turn.slot != slot or turn.gang != gang:
                continue
            entries.append(_span(process, hold, gang, turn.begin_ns, turn.end_ns, origin))
            if turn.begin_ns > turn.asked_ns:
                entries.append(_span(process, wait, f"{gang} waits", turn.asked_ns, turn.begin_ns, origin))
    return entries


def _instants(process, events, origin):
    """Returns what the arbiter did itself: all events but those of an ordinary turn."""
    ordinary = {"arrive", "hold", "release"}
    return [{"ph": "i", "s": "p", "pid": process, "tid": 0, "name": f"{e.event} {e.gang}".strip(),
             "ts": (e.t_ns - origin) / 1e3} for e in events if e.event not in ordinary]


def _iteration_tracks(process, job, origin):
    entries = []
    for rank in job.ranks:
        entries.append(_name("thread_name", process, rank.rank + 1, f"rank {rank.rank}"))
        entries += [_span(process, rank.rank + 1, f"iteration {i.index}", i.begin_ns, i.end_ns, origin)
                    for i in rank.iterations]
    return entries


def _span(process, thread, name, begin_ns, end_ns, origin):
    return {"ph": "X", "pid": process, "tid": thread, "name": name, "ts": (begin_ns - origin) / 1e3,
            "dur": (end_ns - begin_ns) / 1e3}


def _name(kind, process, thread, name):
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}
