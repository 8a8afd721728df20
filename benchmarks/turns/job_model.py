"""Runs the job model: a discrete-event model of jobs that share GPUs, which drives the shipped turnstile."""

import json
import subprocess

_HAND_OVER_US = 70  # from the store of a release to the first kernel behind the gate, on the software GPU


class Refused(Exception):
    """The model refuses its arguments. The message names one of them, its value and what is expected."""


def run(build, jobs, seconds, program="job_model", **options):
    """Returns what one run prints, as a dict. `jobs` are (c, m) in ms, or (c, m, jitter). `options` are further
    arguments of the program, such as tail=0.05, batch=0.2, spinning=0.18 or slow_comm=1; they override the defaults
    here. `program` is the model, or the one with another guard."""
    arguments = {"gpus": 4, "hand_over_us": _HAND_OVER_US, "seconds": seconds, **options}
    command = [str(build.program(program)), *(f"{key}={value}" for key, value in arguments.items()),
               *("job=" + ",".join(f"{value:.4f}" for value in job) for job in jobs)]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode == 2:
        raise Refused(finished.stderr.partition("\n")[0])
    finished.check_returncode()
    return json.loads(finished.stdout)
