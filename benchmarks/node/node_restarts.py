"""Restarts the kubelets and node daemons of a cluster."""

import socket
import time

from testing.processes import Failed

_KUBELET_SOCKET = "/var/lib/kubelet/device-plugins/kubelet.sock"
_PATIENCE_S = 60.0


def restart(running, number, what, kill, draw):
    """Restarts "kubelet", "daemon" or "both" of a node. Returns the monotonic time from which both are up.

    A daemon is up from the moment when it is started: the time that it needs until it is ready counts against it. A
    kubelet is up from the moment when it listens for plugins: before that it could not be given anything.
    """
    steps = {"kubelet": ["kubelet"], "daemon": ["daemon"], "both": draw.sample(["kubelet", "daemon"], 2)}[what]
    for step in steps:
        _end(running, number, step, kill)
    time.sleep(draw.uniform(0.0, 0.5))
    ups = [_start(running, number, step) for step in draw.sample(steps, len(steps))]
    if "kubelet" in steps:
        _await_kubelet(running.cluster.nodes[number])
        ups.append(time.monotonic())
    return max(ups)


def restart_late(running, number, stands_still_s):
    """A known-bad restart: the new daemon stands still before it does anything for the kubelet."""
    running.daemons.end_on(number)
    up = time.monotonic()
    running.daemons.start_on(number)
    running.daemons.freeze(number)
    time.sleep(stands_still_s)
    running.daemons.thaw(number)
    return up


def _end(running, number, step, kill):
    if step == "daemon":
        running.daemons.end_on(number, kill)
    else:
        running.cluster.nodes[number].stop_kubelet(kill)


def _start(running, number, step):
    began = time.monotonic()
    if step == "daemon":
        running.daemons.start_on(number)
    else:
        running.cluster.nodes[number].start_kubelet()
    return began


def _await_kubelet(node):
    end = time.monotonic() + _PATIENCE_S
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(node.reach(_KUBELET_SOCKET))) == 0:
                return
        if time.monotonic() > end:
            raise Failed(f"the kubelet of {node.name} does not listen for plugins after {_PATIENCE_S:.0f} s")
        time.sleep(0.005)
