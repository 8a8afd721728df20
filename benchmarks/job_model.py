"""Runs of the job model: a discrete-event model of jobs that share GPUs, driving the shipped turnstile."""

import json
import subprocess

_HAND_OVER_US = 70  # from the store of a release to the first kernel behind the gate, software GPU


def run(build, jobs, seconds, **options):
    """What one run says, as a dict. `jobs`: (c, m) in ms; `options`: further arguments of the program."""
    command = [str(build.program("job_model")), "gpus=4", f"hand_over_us={_HAND_OVER_US}", f"seconds={seconds}",
               *(f"{key}={value}" for key, value in options.items()),
               *(f"job={compute:.4f},{away:.4f}" for compute, away in jobs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
