"""restarts counts pods that had begun to run with a slot and then failed, started anew or vanished, Jobs that failed,
and work that stayed undone, while kubelets and node daemons of a real Kubernetes are restarted under pods that come and
go.

`restarts_leaked` counts the slots that as many pods at once cannot get afterwards. `restarts_back_s` is the time from
when kubelet and daemon are both up until all slots are back in the node's API object, the slowest one.
`restarts_rejected_beside` counts pods that never began, and that their owners replaced. A kubelet turns down pods that
are bound to it while it has no plugin; the API shows that absence a status interval later. It also turns down pods that
find no slot free just after it has started. A container fails whose kubelet ends while it is being started. A reader
who calls those lost, too, adds the two figures.

Controls: a pod's processes are killed; a daemon that comes back with one slot less per GPU; one that stands still for
three seconds when it comes back.
"""

import contextlib
import os
import random
import signal
import time
from pathlib import Path

from benchmarks.cluster import cluster
from benchmarks.node import node_restarts, pod_churn, pod_fates, slots
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.rig.api import Watch
from testing.machine import Machine

GOAL, BACK_GOAL = Goal("==", 0), Goal("<=", 2.0)
_RESTARTS = {"kubelet": 20, "daemon": 20, "both": 10}
CASES = tuple(_RESTARTS)
_MACHINE = Machine(nodes=2, gpus_per_node=2)
_SLOTS_PER_GPU = 4
_STANDS_STILL_S = 3.0


def measure(context, case):
    count = _RESTARTS[case]
    with cluster.running(context.build, _MACHINE, node_settings={"slots_per_gpu": _SLOTS_PER_GPU}) as running:
        running.cluster.image_of(pod_churn.IMAGE, {"/bin/sleep": "/bin/sleep"})
        pods, nodes = pod_fates.PodFates(), slots.Slots(running.daemons.slots)
        with Watch(running.cluster.api(), cluster.PODS, pods.on_event), \
             Watch(running.cluster.api(), cluster.NODES, nodes.on_event):
            work = pod_churn.Churn(running.cluster.api(), [node.name for node in running.cluster.nodes], pods, count)
            work.start()
            back = tuple(_restarts(context, running, pods, nodes, case, count))
            late = _back_of(running, 0, pods, nodes,
                            lambda: node_restarts.restart_late(running, 0, _STANDS_STILL_S))
            work.finish()
            lost, turned_down = list(pods.lost), list(pods.turned_down)
            seen = _lost_of_a_killed_pod(running, pods)
            work.clear()
            leaked = slots.leaked(running, pods, pod_churn.IMAGE)
            work.clear()
            leaked_of_fewer = _leaked_of_fewer_slots(running, pods, nodes)
    condition = (f"{case} restarted {count} times, kill -9 and SIGTERM by turns, on 2 nodes of "
                 f"{running.daemons.slots} slots with {pod_churn.STAYING} pods that stay, {pod_churn.REPLACED} of a "
                 f"ReplicaSet and {pod_churn.LANES} Jobs at a time each; kubelet's nodeStatusUpdateFrequency "
                 f"{slots.STATUS_INTERVAL_S:.0f} s; default scheduler: it binds while the API shows free slots")
    yield Measured("restarts", case, len(lost), "pods and Jobs lost", GOAL, (len(lost),),
                   controlled(GOAL, "a pod's processes are killed", seen), condition, {"lost": lost})
    yield Measured("restarts_leaked", case, leaked, "slots", GOAL, (leaked,),
                   controlled(GOAL, "a daemon that comes back with one slot less per GPU", leaked_of_fewer), condition)
    yield Measured("restarts_back_s", case, max(back), "s, slowest", BACK_GOAL, back,
                   controlled(BACK_GOAL, f"a daemon that stands still for {_STANDS_STILL_S:.0f} s", late), condition,
                   {"since": "the later of: the daemon's start, the kubelet listening for plugins"})
    yield Measured("restarts_rejected_beside", case, len(turned_down), "pods that never began", Goal(),
                   (len(turned_down),), None, condition, {"why": turned_down})


def _restarts(context, running, pods, nodes, what, count):
    draw = random.Random(count)
    for number in range(count):
        which = number % len(running.cluster.nodes)
        kill = number // len(running.cluster.nodes) % 2 == 0
        time.sleep(draw.uniform(0.0, 1.0))
        back_s = _back_of(running, which, pods, nodes,
                          lambda: node_restarts.restart(running, which, what, kill, draw))
        context.say(f"    {number + 1} of {count}: slots back after {back_s:.2f} s; {len(pods.lost)} lost, "
                    f"{len(pods.turned_down)} turned down")
        yield back_s


def _back_of(running, number, pods, nodes, restart):
    """Restarts and waits until a node's slots are back and a pod has one of them. Returns the seconds until the slots
    were back."""
    node, began = running.cluster.nodes[number].name, time.monotonic()
    up = restart()
    back_s = nodes.back_after_s(node, began, up)
    pods.await_that(lambda seen: any(pod.node == node and pod.ran and pod.since > up for pod in seen),
                    f"a pod runs on {node} that came after the restart")
    return back_s


def _lost_of_a_killed_pod(running, pods):
    """Kills the processes of a pod and returns how many pods were lost by it. This is the control."""
    before, name = len(pods.lost), f"stays-{running.cluster.nodes[0].name}-0"
    uid = running.api.get(f"{cluster.PODS}/{name}")["metadata"]["uid"]
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"/pod{uid}" in (entry / "cgroup").read_text(encoding="ascii"):
                os.kill(int(entry.name), signal.SIGKILL)
    pods.await_that(lambda seen: any(pod.name == name and pod.over for pod in seen), f"{name} is seen to fail")
    return len(pods.lost) - before


def _leaked_of_fewer_slots(running, pods, nodes):
    """Starts a daemon with one slot less per GPU and returns how many slots are missing then. This is the control."""
    running.daemons.end_on(0)
    running.daemons.start_on(0, slots_per_gpu=_SLOTS_PER_GPU - 1)
    nodes.await_count(running.cluster.nodes[0].name, (_SLOTS_PER_GPU - 1) * _MACHINE.gpus_per_node)
    return slots.leaked(running, pods, pod_churn.IMAGE)
