"""Describes the conditions of a case as data: what kind of run it is, and what a reader needs to judge it. Pure.

A case of a model never counts as one of the software GPU: its kind says so, and tables show it.
"""

from numbers import Real

from testing.machine import SMS

# In order: real processes on software GPUs; a program that drives the shipped core through simulated time; a program
# without GPUs or jobs; a Kubernetes with the shipped daemons; the suite for a real GPU.
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


# Jobs that share GPUs must state these keys, as processes or in a model: key -> (what is expected, whether the value
# is that).
OF_JOBS = {"jobs": _number(1, 64), "ranks": _number(1, 1024), "c_ms": _number(0, 1e6), "m_over_c": _number(0, 1000),
           "links": _one_of(_LINKS), "jitter": _number(0, 1), "kernel_sms": _number(1, 132),
           "co_run": _number(0.9, 1.4), "mode": _one_of(_MODES)}


def of_job_model(jobs, compute_ms, ratio, kernel_sms=SMS, **more):
    """Returns the conditions of benchmarks/turns/job_model.py, in which jobs share four GPUs and links are not
    modelled."""
    return {"kind": "model", "model": "job_model", "jobs": jobs, "ranks": 4, "c_ms": compute_ms, "m_over_c": ratio,
            "links": "not modelled", "jitter": 0, "kernel_sms": kernel_sms, "co_run": 1, "mode": "mps", **more}


def complete(conditions, kind, words):
    """Returns `conditions` with the kind first. If a case states nothing else, its words describe it."""
    full = {"kind": kind, **conditions}
    return full if len(full) > 1 or not words else {**full, "what": words}


def faults(conditions):
    """Returns what is wrong with the conditions of a case: for each fault the key, the value and what is expected."""
    if not isinstance(conditions, dict):
        return [f"expected an object, got {conditions!r}"]
    kind = conditions.get("kind")
    if kind not in KINDS:
        return [f"kind: expected one of {', '.join(KINDS)}, got {kind!r}"]
    if conditions.get("failed"):  # it failed before it could state them
        return []
    if not speaks_of_jobs(conditions):
        what = conditions.get("what")
        if isinstance(what, str) and what:
            return []
        return [f"what: expected words that say what was measured, got {what!r}"]
    return [f"{key}: expected {expected}, got {conditions.get(key)!r}" for key, (expected, holds) in OF_JOBS.items()
            if not holds(conditions.get(key))]


def speaks_of_jobs(conditions):
    """Returns whether the conditions are about jobs that share GPUs. Those of processes always are. Those of another
    kind are if they have a key of OF_JOBS."""
    return conditions["kind"] == "processes" or any(key in conditions for key in OF_JOBS)
