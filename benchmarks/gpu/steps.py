"""Computes times of steps from what jobs report, and what a job computes from noted collectives. Pure."""

import json
from dataclasses import dataclass

from testing import bounds, stats

# This share of a run does not count: the library learns a job's rhythm first, and clocks rise.
_SETTLING = 0.4
_LEAST_STEPS = 5


class TooFew(ValueError):
    """Says that the jobs made too few steps to tell. A longer run may have enough."""


def step_s(report):
    """Returns the seconds of a step of one job: the mean over the settled part of its run, stalls included."""
    ends = _settled(report)
    return (ends[-1] - ends[0]) / (len(ends) - 1) / 1e9


def cycle_s(reports):
    """Returns the seconds in which every job does one step while all run, by the mean of their rates."""
    begin = max(_settled(report)[0] for report in reports)
    end = min(report["ends_ns"][-1] for report in reports)
    rates = []
    for report in reports:
        inside = [t for t in report["ends_ns"] if begin <= t <= end]
        if len(inside) < _LEAST_STEPS:
            raise TooFew(f"{len(inside)} steps while all jobs ran: too few to tell")
        rates.append((len(inside) - 1) / (inside[-1] - inside[0]) * 1e9)
    return 1 / stats.mean(rates)


def speed_up(alone_s, reports):
    """Returns how much faster the jobs run than one after the other: the sum of the share of its own speed alone that
    each job has."""
    begin = max(_settled(report)[0] for report in reports)
    end = min(report["ends_ns"][-1] for report in reports)
    total = 0.0
    for alone, report in zip(alone_s, reports):
        inside = [t for t in report["ends_ns"] if begin <= t <= end]
        if len(inside) < _LEAST_STEPS:
            raise TooFew(f"{len(inside)} steps while all jobs ran: too few to tell")
        total += alone * (len(inside) - 1) / (inside[-1] - inside[0]) * 1e9
    return total


def gaps_ms(report):
    """Returns the milliseconds between the ends of steps."""
    ends = report["ends_ns"]
    return [(b - a) / 1e6 for a, b in zip(ends, ends[1:])]


@dataclass(frozen=True)
class Profile:
    """Holds an iteration's collectives, as (function, count, nanoseconds of compute before it), and all bytes that it
    moves."""

    stretches: tuple
    moved_bytes: int

    @property
    def compute_s(self):
        return sum(ns for *_, ns in self.stretches) / 1e9

    def text(self, thin=1):
        return "".join(f"{function} {max(count // thin, 1)} {ns}\n" for function, count, ns in self.stretches)


_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "int64": 8, "int32": 4, "uint8": 1, "int8": 1}


def profile_of(lines, report):
    """Returns the profile of a job, from what its stand-in noted while it ran alone as `report` says. REQUIRES: links
    were as fast as can be, every step made as many collectives, and compute waited for the last of each. Raises
    ValueError where the steps did not make as many collectives."""
    calls = [json.loads(line) for line in lines]
    calls = [call for call in calls if call["begin_ns"] >= report["began_ns"]]
    taken = len(report["ends_ns"])
    if not taken or not calls or len(calls) % taken:
        raise ValueError(f"{len(calls)} collectives in {taken} steps: not as many in each")
    period, stretches = len(calls) // taken, []
    for place in range(period):
        gaps = []
        for index in range(place + period * (taken // 2), len(calls), period):
            past = calls[index - 1]["end_ns" if place == 0 else "begin_ns"]
            gaps.append(max(0, calls[index]["begin_ns"] - past))
        stretches.append((calls[place]["call"], calls[-period + place]["count"], int(stats.median(gaps))))
    moved = sum(call["count"] * _BYTES.get(call["type"], 4) for call in calls[-period:])
    return Profile(tuple(stretches), moved)


def turns_of(trace, gang):
    """Returns how many turns a job has held, by an arbiter's trace. Where no arbiter runs there is no such file, and
    the job has held none."""
    if not trace.exists():
        return 0
    lines = trace.read_text(encoding="utf-8").splitlines()
    events = (json.loads(line) for line in lines if line.startswith("{"))
    return sum(event.get("event") == "hold" and event.get("gang") == gang for event in events)


def bound_s(alone_s, compute_s, link_s, ctas, sms):
    """Returns T* of these jobs, in seconds."""
    jobs = [bounds.one_turn(c, max(step - c, 0.0), wire) for step, c, wire in zip(alone_s, compute_s, link_s)]
    return bounds.cycle_bound(jobs, ctas, sms)


def _settled(report):
    ends = report["ends_ns"]
    settled = ends[int(len(ends) * _SETTLING):]
    if len(settled) < _LEAST_STEPS:
        raise TooFew(f"{len(ends)} steps: too few to tell")
    return settled
