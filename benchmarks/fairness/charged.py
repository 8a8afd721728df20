"""charged is the GPU time that jobs are charged for (crossover_charged_gpu_seconds_total), summed over a GPU's jobs,
over the time for which at least one job was on the GPU. Its value is the most of all GPUs, while jobs come, are killed
and come again.

Control: every job is charged for all of the time for which it is there. charged_beside is the least of all GPUs.
"""

import re
import subprocess
import sys
import time

from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, session

GOAL = Goal("<=", 1.0)
CASES = ("churn",)
_SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=600)
_LISTEN = "127.0.0.1:9402"
_GET = f"import urllib.request; print(urllib.request.urlopen('http://{_LISTEN}/metrics').read().decode())"
_LINE = re.compile(r'^crossover_charged_gpu_seconds_total\{gpu_uuid="([^"]*)",gang="([^"]*)"\} (\S+)$', re.MULTILINE)


def measure(context, case):
    seen = {}

    def churn(running):
        for number in range(3):
            running.wait_for_iterations(_SHAPE.iterations // 10 * (2 + 2 * number))
            running.start_late(f"gamma-{number}")
            time.sleep(1.0)
            running.kill_job(f"gamma-{number}")
        running.wait_for_jobs()  # the charges stay readable for minutes
        for node in range(running.machine.nodes):
            said = subprocess.run(running.nodes.on_node(node, [sys.executable, "-c", _GET]), check=True,
                                  capture_output=True, text=True).stdout
            seen[node] = (_LINE.findall(said), running.trace(node))

    late = tuple(f"gamma-{number}" for number in range(3))
    jobs = (_SHAPE.job("alpha", 1), _SHAPE.job("beta", 2), *(_SHAPE.job(name, 3) for name in late))
    plan = session.Plan(_SHAPE.machine(), jobs, context.build.library, isolated=context.isolated, during=churn,
                        daemon_settings=(f"metrics: {{listen: '{_LISTEN}'}}",), late=late, expendable=late)
    if context.session(plan, timed=False) is None:
        yield Measured("charged", case, None, "of the time", GOAL, (), None, _SHAPE.condition(), {},
                       _SHAPE.conditions(jobs=3))
        return
    shares, present = [], []
    for lines, trace in seen.values():
        for uuid in sorted({uuid for uuid, _, _ in lines}):
            stays = _stays([event for event in trace if event.gpu == uuid])
            gangs = {gang for gang, _, _ in stays}
            if not gangs > set(late):
                raise session.Failed(f"of {', '.join(late)} only {', '.join(gangs)} have come to {uuid}")
            occupied_s = _union_s(stays)
            shares.append(round(sum(float(value) for gpu, _, value in lines if gpu == uuid) / occupied_s, 6))
            present.append(sum(end - begin for _, begin, end in stays) / 1e9 / occupied_s)
    condition = f"{_SHAPE.condition()}; a third job comes and is killed three times"
    yield Measured("charged", case, max(shares), "of the time", GOAL, tuple(shares),
                   controlled(GOAL, "every job is charged for all of the time for which it is there", max(present)),
                   condition, {}, _SHAPE.conditions(jobs=3))
    yield Measured("charged_beside", case, min(shares), "of the time", Goal(), tuple(shares), None, condition,
                   {}, _SHAPE.conditions(jobs=3))


def _stays(events):
    """Returns (gang, from, until) in ns for each client of a GPU. Raises Failed where a client never left."""
    stays, here = [], {}
    for event in events:
        if event.event == "join":
            here[event.slot] = (event.gang, event.t_ns)
        elif event.event == "leave":
            stays.append((*here.pop(event.slot), event.t_ns))
    if here:
        raise session.Failed(f"{sorted(gang for gang, _ in here.values())} never left")
    return stays


def _union_s(stays):
    """Returns for how many seconds at least one client was there."""
    total, covered = 0, 0
    for _, begin, end in sorted(stays, key=lambda stay: stay[1]):
        total += max(0, end - max(begin, covered))
        covered = max(covered, end)
    return total / 1e9
