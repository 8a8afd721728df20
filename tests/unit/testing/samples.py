"""Makes small inputs in the form in which they are recorded."""

import json

from testing.logs import JobLog, parse_rank_log

GPUS = ("GPU-00000000-0000-0000-0000-000000000000", "GPU-00000000-0000-0000-0001-000000000001")
MS = 1_000_000


def rank_lines(rank, steps=10, step_ms=40, start_ns=0, digest="ab12"):
    lines = []
    for k in range(steps):
        begin = start_ns + k * step_ms * MS
        lines.append(json.dumps({"rank": rank, "iteration": k, "begin_ns": begin, "end_ns": begin + step_ms * MS,
                                 "compute_ns": 20 * MS, "loss": "0x1.8p-1"}))
    lines.append(json.dumps({"rank": rank, "summary": {"variant": "plain", "iterations": steps,
                                                       "losses_digest": digest, "kernels": "timed"}}))
    return lines


def job(name, ranks=2, **kwargs):
    return JobLog(name, tuple(parse_rank_log(rank_lines(r, **kwargs)) for r in range(ranks)))


def trace_lines(turns=6, gpus=GPUS):
    """Returns the trace of alpha and beta, which take turns of 20 ms. Each asks 8 ms before it is let in."""
    lines = []
    for gpu in gpus:
        for k in range(2 * turns):
            slot, gang = k % 2, ("alpha", "beta")[k % 2]
            begin = k * 20 * MS
            for t, event in ((max(0, begin - 8 * MS), "arrive"), (begin, "hold"), (begin + 20 * MS, "release")):
                lines.append(json.dumps({"t_ns": t, "gpu": gpu, "slot": slot, "gang": gang, "event": event}))
    lines.append(json.dumps({"t_ns": 5 * MS, "gpu": gpus[0], "slot": 0, "gang": "alpha", "event": "revoke"}))
    return lines
