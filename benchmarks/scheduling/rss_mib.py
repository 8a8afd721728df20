"""rss_mib is the resident memory of the extender that knows 5,000 nodes of eight GPUs, each of which has a pod with a
slot, from a real API server. rss_mib_peak_beside is the most that it was while the extender learnt them.

Control: the API server, measured in the same way.
"""

import time

from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import large_cluster

GOAL = Goal("<=", 300.0)
CASES = ("40000_slots",)
_NODES, _GPUS = 5000, 8
_LOOKS = 20


def measure(context, case):
    with large_cluster.standing(context, _NODES, _GPUS, _GPUS, {"lease": "off"}) as large:
        seen = []
        for _ in range(_LOOKS):
            time.sleep(1.0)
            seen.append(large.extender_memory_mib())
            context.say(f"    {seen[-1][0]:.1f} MiB, at most {seen[-1][1]:.1f}")
        large.control.check()
        server = large_cluster.memory_mib(large.cluster.processes.inner("kube-apiserver"))[0]
    resident = tuple(now for now, _ in seen)
    condition = (f"{_NODES} nodes of {_GPUS} GPUs with a pod of one slot each; no scheduler, no kubelets; the most of "
                 f"{_LOOKS} looks, one a second")
    yield Measured("rss_mib", case, max(resident), "MiB, resident", GOAL, resident,
                   controlled(GOAL, "the API server", server), condition)
    yield Measured("rss_mib_peak_beside", case, seen[-1][1], "MiB, resident", Goal(), (seen[-1][1],), None, condition)
