"""What a case says of its conditions, as data: what kind of run it is, and what a reader needs to judge it. Pure.

A case of a model is never one of the software GPU: its kind says so, and tables show it.
"""

from numbers import Real

from benchmarks.machine import SMS

# Real processes on software GPUs; a program that drives the shipped core through made-up time; a program without GPUs
# or jobs; a Kubernetes with the daemons that ship; the suite for a real GPU.
KINDS = ("processes", "model", "program", "cluster", "gpu")
_LINKS = ("shared", "private", "not modelled")
_MODES = ("mps", "timeslice")


def _number(low, high):
    def is_one(value):
        return isinstance(value, Real) and not isinstance(value, bool) and low <= value <= high

    def holds(value):
        if isinstance(value, dict):
            return set(value) == {"from", "to"} and all(map(is_one, value.values()))
        return all(map(is_one, value)) if isinstance(value, (list, tuple)) and value else is_one(value)

    return f'a number from {low:g} to {high:g}, one for each job, or {{"from", "to"}} of those drawn', holds


def _one_of(words):
    return f"one of {', '.join(words)}", lambda value: value in words


# What jobs that share GPUs have to say, in processes as in a model: key -> (what is expected, whether it is that).
OF_JOBS = {"jobs": _number(1, 64), "ranks": _number(1, 1024), "c_ms": _number(0, 1e6), "m_over_c": _number(0, 1000),
           "links": _one_of(_LINKS), "jitter": _number(0, 1), "kernel_sms": _number(1, 132),
           "co_run": _number(0.9, 1.4), "mode": _one_of(_MODES)}


def of_job_model(jobs, compute_ms, ratio, kernel_sms=SMS, **more):
    """Of benchmarks/job_model.py, in which jobs share four GPUs and links are not modelled."""
    return {"kind": "model", "model": "job_model", "jobs": jobs, "ranks": 4, "c_ms": compute_ms, "m_over_c": ratio,
            "links": "not modelled", "jitter": 0, "kernel_sms": kernel_sms, "co_run": 1, "mode": "mps", **more}


def complete(conditions, kind, words):
    """`conditions` with its kind first; where a case says nothing more, its words stand for them."""
    full = {"kind": kind, **conditions}
    return full if len(full) > 1 or not words else {**full, "what": words}


def faults(conditions):
    """What is wrong with the conditions of a case, each with key, value and what is expected."""
    if not isinstance(conditions, dict):
        return [f"expected an object, got {conditions!r}"]
    kind = conditions.get("kind")
    if kind not in KINDS:
        return [f"kind: expected one of {', '.join(KINDS)}, got {kind!r}"]
    if conditions.get("failed"):  # before it could say them
        return []
    if not speaks_of_jobs(conditions):
        what = conditions.get("what")
        if isinstance(what, str) and what:
            return []
        return [f"what: expected words that say what was measured, got {what!r}"]
    return [f"{key}: expected {expected}, got {conditions.get(key)!r}" for key, (expected, holds) in OF_JOBS.items()
            if not holds(conditions.get(key))]


def speaks_of_jobs(conditions):
    """Whether it is of jobs that share GPUs. Processes always are; a case of another kind is, if it says one of the
    things that they have to say."""
    return conditions["kind"] == "processes" or any(key in conditions for key in OF_JOBS)
