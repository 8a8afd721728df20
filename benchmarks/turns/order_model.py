"""order_model shows how fast many GPUs come to the same order of turns, in a discrete-event model of the shipped core.

Control: the tie rule is off, from the trapped start, without jitter. In 9 of 10 runs the GPUs are still trapped after
100 iterations.
"""

import json
import subprocess
from dataclasses import dataclass
from functools import cache

from benchmarks.runner.results import Control, Goal, Measured
from testing.machine import SMS

_GOAL = Goal("<=", 7)
_LASTS = Goal(">=", 0.98)
_STARTS = {"random": 100, "trapped": 10}


@dataclass(frozen=True)
class _Case:
    gpus: int
    ratio: float
    jitter: float
    start: str

    def __str__(self):
        return f"{self.gpus}gpus_{self.ratio:g}_jitter{self.jitter:g}_{self.start}"


_BY_CASE = {str(case): case for case in
            (_Case(gpus, ratio, jitter, start) for gpus in (4, 8, 32, 128) for ratio in (0.6, 1.0)
             for jitter in (0.0, 0.05) for start in _STARTS)}
SCOPE = "component"
CASES = tuple(_BY_CASE)


def measure(context, name):
    case = _BY_CASE[name]
    program = str(context.build.program("order_model"))
    found = _run(program, case.gpus, case.ratio, case.jitter, case.start, "on", 60, _STARTS[case.start])
    bad = _run(program, case.gpus, case.ratio, 0.0, "trapped", "off", 110, 10)
    control = Control(f"tie rule off: {bad['never']} of {bad['runs']} runs trapped for good", bad["worst"],
                      bad["never"] * 10 >= bad["runs"] * 9)
    condition = ("iterations before the first window of 5 at the reference; discrete-event model, c = 20 ms, "
                 "hand-over 100 us")
    remarks = {"runs": found["runs"], "two clients at once": found["overlaps"]}
    # In the model, kernels take all SMs, one at a time. A collective takes its own time and none of another one's.
    conditions = {"kind": "model", "model": "order_model", "jobs": 2, "ranks": case.gpus, "c_ms": 20,
                  "m_over_c": case.ratio, "links": "not modelled", "jitter": case.jitter, "kernel_sms": SMS,
                  "co_run": 1, "mode": "mps", "start": case.start, "hand_over_us": 100, "runs": found["runs"]}
    yield Measured("order_model", name, found["worst"], "iterations", _GOAL, (found["worst"],), control, condition,
                   remarks, conditions)
    yield Measured("order_model_lasts", name, found["least"], "of the reference", _LASTS, (found["least"],),
                   Control(control.what, bad["least"], not _LASTS.met_by(bad["least"])), condition, remarks,
                   conditions)


@cache
def _run(program, gpus, ratio, jitter, start, tie, iterations, runs):
    command = [program, str(gpus), str(ratio), str(jitter), f"start={start}", f"tie={tie}", str(iterations), str(runs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
