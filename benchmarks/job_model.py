"""Runs of the job model: a discrete-event model of jobs that share GPUs, driving the shipped turnstile."""

import json
import subprocess

from benchmarks.machine import SMS

_HAND_OVER_US = 70  # from the store of a release to the first kernel behind the gate, software GPU


def run(build, jobs, seconds, **options):
    """What one run says, as a dict. `jobs`: (c, m) in ms; `options`: further arguments of the program."""
    command = [str(build.program("job_model")), "gpus=4", f"hand_over_us={_HAND_OVER_US}", f"seconds={seconds}",
               *(f"{key}={value}" for key, value in options.items()),
               *(f"job={compute:.4f},{away:.4f}" for compute, away in jobs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def conditions(jobs, compute_ms, ratio, width=1.0, **more):
    """As data, of benchmarks/kinds.py: the model's own, never those of processes. `width`: of kernels, a part of all
    SMs."""
    return {"kind": "model", "model": "job_model", "jobs": jobs, "ranks": 4, "c_ms": compute_ms, "m_over_c": ratio,
            "links": "not modelled", "jitter": 0, "kernel_sms": round(SMS * width), "co_run": 1, "mode": "mps",
            "hand_over_us": _HAND_OVER_US, **more}
