"""handover_ratio and handover_ratio_p99: the direct hand-over against half a futex round trip of the same run.

The other granters of record 0001 are measured beside it. Control: release after a host synchronisation.
"""

import os
import tempfile
from pathlib import Path

from benchmarks import pairs, programs, stats
from benchmarks.machine import Machine
from benchmarks.processes import Failed
from benchmarks.results import Goal, Measured, controlled

GOAL, GOAL_P99 = Goal("<=", 1.5), Goal("<=", 2.0)
# Case: (granter, poll interval in us, the releasing host stands still for 100 of every 400 ms).
_CASES = {
    "stream": ("stream", 50, 0), "kernel": ("kernel", 50, 0), "poll_50us": ("poll", 50, 0),
    "poll_200us": ("poll", 200, 0), "callback": ("callback", 50, 0),
    "stream_throttled": ("stream", 50, 1), "callback_throttled": ("callback", 50, 1),
}
SCOPE = "component"
CASES = tuple(_CASES)
_TURNS, _HOLD_US = 2000, 300
_SCOPE = ("2 processes, one software GPU, {turns} turns of {hold} us each; stopped hosts are emulated: host functions "
          "of the releasing process do not run, its streams go on")


def measure(context, case):
    shipped = case == "stream"
    runs, bad = [], []
    for _ in range(context.runs):
        runs += _run(context, _CASES[case])
    if shipped:
        bad = _run(context, ("synchronize", 50, 0))
    for run in runs + bad:
        context.say(f"    {run['granter']:>12}  hand-over {_shown(run, 'handover_us')}, half a round trip "
                    f"{_shown(run, 'half_round_trip_us')}, paced {_shown(run, 'paced_half_round_trip_us')} us "
                    f"(p50 / p99 / max), {run['granter_cpu']:.1%} of a core")
    suffix = "" if shipped else "_beside"
    for name, goal, quantile in (("handover_ratio", GOAL, "p50"), ("handover_ratio_p99", GOAL_P99, "p99")):
        samples = tuple(_ratio(run, quantile) for run in runs)
        value = stats.median(samples) if len(samples) == context.runs else None
        control = controlled(goal, "release after a host synchronisation",
                             _ratio(bad[0], quantile) if bad else None) if shipped else None
        yield Measured(name + suffix, case, value, "1", goal if shipped else Goal(), samples, control,
                       _SCOPE.format(turns=_TURNS, hold=_HOLD_US), {"runs": runs})
    # A ping-pong whose sides sleep as long as a turn before they answer: what a wake-up from real sleep costs here.
    paced = tuple(_ratio(run, "p50", "paced_half_round_trip_us") for run in runs)
    yield Measured("handover_ratio_beside", f"{case}_paced", stats.median(paced) if paced else None, "1", Goal(), paced,
                   None, "against a ping-pong at the pace of the turns")


def _ratio(run, quantile, yardstick="half_round_trip_us"):
    return run["handover_us"][quantile] / run[yardstick][quantile]


def _shown(run, what):
    return " / ".join(f"{run[what][key]:.1f}" for key in ("p50", "p99", "max"))


def _run(context, how):
    granter, poll_us, throttled = how
    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-", dir="/dev/shm") as directory:
        config = Path(directory) / "machine.yaml"
        config.write_text(Machine(nodes=1, gpus_per_node=1).yaml(Path(directory) / "machine"), encoding="utf-8")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(context.build.gpu_libraries), "SIMGPU_CONFIG": str(config)}
        try:
            return programs.json_lines([context.build.program("handover"), granter, _TURNS, _HOLD_US, poll_us,
                                        throttled], environment)
        except Failed as failure:
            context.voids.append(str(failure))
            return []
