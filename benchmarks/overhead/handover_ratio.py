"""handover_ratio and handover_ratio_p99 compare the direct hand-over with half a futex round trip of the same run.

The comparison is of like with like. A client that waits for a turn has slept through the other client's turn. So both
sides of the ping-pong sleep as long before they answer, each on a core of its own and at the priority of the streams. A
processor that has slept takes longer to come back. Beside it stands the case without sleep on either side: turns of no
length against a tight ping-pong.

The other granters of record 0001 are measured beside it. Control: release after a host synchronisation.
"""

import os
import tempfile
from pathlib import Path

from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, programs, stats
from testing.machine import Machine
from testing.processes import Failed

GOAL, GOAL_P99 = Goal("<=", 1.5), Goal("<=", 2.0)
_TURNS, _HOLD_US = 2000, 300
# Each case is (granter, length of a turn in us, poll interval in us, throttled). Where throttled is 1, the releasing
# host stands still for 100 of every 400 ms.
_CASES = {
    "stream": ("stream", _HOLD_US, 50, 0), "stream_tight": ("stream", 0, 50, 0), "kernel": ("kernel", _HOLD_US, 50, 0),
    "poll_50us": ("poll", _HOLD_US, 50, 0), "poll_200us": ("poll", _HOLD_US, 200, 0),
    "callback": ("callback", _HOLD_US, 50, 0), "stream_throttled": ("stream", _HOLD_US, 50, 1),
    "callback_throttled": ("callback", _HOLD_US, 50, 1),
}
SCOPE = "component"
CASES = tuple(_CASES)
_CONDITION = ("2 processes, one software GPU, {turns} turns of {hold} us each; stopped hosts are emulated: host "
              "functions of the releasing process do not run, its streams go on")


def measure(context, case):
    shipped = case in ("stream", "stream_tight")
    runs, bad = [], []
    for _ in range(context.runs):
        runs += _run(context, _CASES[case])
    if shipped:
        bad = _run(context, ("synchronize", _CASES[case][1], 50, 0))
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
                       _CONDITION.format(turns=_TURNS, hold=_CASES[case][1]), {"runs": runs})


def _ratio(run, quantile):
    return run["handover_us"][quantile] / run["paced_half_round_trip_us"][quantile]


def _shown(run, what):
    return " / ".join(f"{run[what][key]:.1f}" for key in ("p50", "p99", "max"))


def _run(context, how):
    granter, hold_us, poll_us, throttled = how
    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-", dir="/dev/shm") as directory:
        config = Path(directory) / "machine.yaml"
        config.write_text(Machine(nodes=1, gpus_per_node=1).yaml(Path(directory) / "machine"), encoding="utf-8")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(context.build.gpu_libraries), "SIMGPU_CONFIG": str(config)}
        try:
            return programs.json_lines([context.build.program("handover"), granter, _TURNS, hold_us, poll_us,
                                        throttled], environment)
        except Failed as failure:
            context.fail(str(failure))
            return []
