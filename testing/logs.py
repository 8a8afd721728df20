"""Reads what the processes of a run write: trainer logs, arbiter traces, reports of the software GPU. Parsing is
pure."""

import json
from dataclasses import dataclass
from pathlib import Path

from testing import stats


@dataclass(frozen=True)
class Iteration:
    index: int
    begin_ns: int
    end_ns: int
    compute_ns: int
    loss: str


@dataclass(frozen=True)
class RankLog:
    """One rank's run: its iterations in order, and its closing summary, which is empty if the rank never came to its
    end."""

    rank: int
    iterations: tuple
    summary: dict


@dataclass(frozen=True)
class TraceEvent:
    t_ns: int
    gpu: str
    slot: int
    gang: str
    event: str
    mode: str = ""  # of the event "mode": off, observe or gate


def parse_rank_log(lines):
    """Parses a trainer's log. Drops an unfinished last line: its writer was killed."""
    rank, iterations, summary = -1, [], {}
    for entry in objects_in(lines):
        rank = entry.get("rank", rank)
        if "summary" in entry:
            summary = entry["summary"]
        elif "iteration" in entry:
            iterations.append(Iteration(entry["iteration"], entry["begin_ns"], entry["end_ns"],
                                        entry["compute_ns"], entry.get("loss", "")))
    return RankLog(rank, tuple(iterations), summary)


def parse_trace(lines):
    """Returns the events of an arbiter's trace, in order of time."""
    events = [TraceEvent(e["t_ns"], e["gpu"], e.get("slot", -1), e.get("gang", ""), e["event"], e.get("mode", ""))
              for e in objects_in(lines) if "event" in e and "gpu" in e]
    return sorted(events, key=lambda e: e.t_ns)


def read_rank_log(path):
    with open(path, encoding="utf-8") as file:
        return parse_rank_log(file)


def read_traces(paths):
    """Returns the traces of several arbiters as one. They have one clock, since all run on this machine."""
    lines = []
    for path in paths:
        if Path(path).exists():
            lines += Path(path).read_text(encoding="utf-8").splitlines()
    return parse_trace(lines)


def read_reports(directory):
    """Returns every report that the processes of the software GPU left in `directory`."""
    reports = []
    for path in sorted(Path(directory).glob("*.json")):
        reports += list(objects_in([path.read_text(encoding="utf-8").replace("\n", " ")]))
    return reports


def openings(trace):
    """Returns how often the watchdog let others in beside the holder of a turn."""
    return sum(event.event == "open" for event in trace)


def two_holders(trace, longest_ms=2.0):
    """Returns how often two clients held a turn of one GPU at once for longer than `longest_ms`, although the watchdog
    had let neither in. For as long as an arbiter looks at its words in turn, a hand-over may look like two holders."""
    count, holders, opened = 0, {}, {}
    for event in trace:
        held = holders.setdefault(event.gpu, {})
        if event.event == "open":
            opened[event.gpu] = event.t_ns
        elif event.event == "hold":
            held[event.slot] = event.t_ns
        elif event.event in ("release", "leave") or (event.event == "mode" and event.mode != "gate"):
            begin = held.pop(event.slot, None)
            for other in held.values() if begin is not None else ():
                both = max(begin, other)
                count += event.t_ns - both > longest_ms * 1e6 and opened.get(event.gpu, -1) < min(begin, other)
    return count


class TraceTail:
    """Reads a growing trace. Each read continues where the last one ended."""

    def __init__(self, path):
        self._path, self._read, self._rest = Path(path), 0, ""

    def news(self):
        """Returns the events written since the last call, in order of time."""
        with open(self._path, encoding="utf-8") as file:
            file.seek(self._read)
            text = self._rest + file.read()
            self._read = file.tell()
        *lines, self._rest = text.split("\n")
        return parse_trace(lines)


@dataclass(frozen=True)
class JobLog:
    """The logs of the ranks of a job."""

    name: str
    ranks: tuple

    @property
    def complete(self):
        return bool(self.ranks) and all(r.summary for r in self.ranks)

    def span(self, first, last=None):
        """Returns (start, end) in ns of iterations `first` to `last`, over all ranks, since the job ends with its
        slowest."""
        chosen = [r.iterations[first:last] for r in self.ranks]
        return min(c[0].begin_ns for c in chosen), max(c[-1].end_ns for c in chosen)

    def step_ms(self, first, last=None):
        """Returns the mean time of an iteration, stalls included."""
        begin, end = self.span(first, last)
        return (end - begin) / 1e6 / len(self.ranks[0].iterations[first:last])

    def cycle_ms_within(self, begin_ns, end_ns):
        """Returns the time per iteration inside a window. An iteration that reaches over its edge counts by its
        share."""
        done = 0.0
        for it in self.ranks[0].iterations:
            inside = min(it.end_ns, end_ns) - max(it.begin_ns, begin_ns)
            if inside > 0:
                done += inside / max(1, it.end_ns - it.begin_ns)
        if not done:
            raise ValueError(f"job {self.name}: no iteration inside the window")
        return (end_ns - begin_ns) / 1e6 / done

    def computes_ms(self, first=0, last=None):
        """Returns the compute stream's busy time of each rank in an iteration, the median of these iterations."""
        return [stats.median([i.compute_ns for i in r.iterations[first:last]]) / 1e6 for r in self.ranks]

    def compute_ms(self, first=0):
        """c of the bounds: the mean over ranks of the compute stream's busy time in an iteration."""
        return stats.mean(self.computes_ms(first))

    @property
    def digest(self):
        """One digest for the job. Rank 0 logs the loss, which all ranks share."""
        return "+".join(str(r.summary.get("losses_digest", "")) for r in self.ranks)


def shared_window(jobs, warm_up):
    """Returns (begin, end) in ns of the time in which every job is past its warm-up and none has ended."""
    begin = max(j.span(warm_up)[0] for j in jobs)
    end = min(j.span(warm_up)[1] for j in jobs)
    if end <= begin:
        raise ValueError("jobs " + ", ".join(j.name for j in jobs) + ": never ran together after their warm-up")
    return begin, end


def objects_in(lines):
    """Yields the JSON objects of these lines. A line that a killed writer left unfinished is left out."""
    for line in lines:
        line = line.strip()
        if not line:
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry
