"""private_mib is the private memory of the node daemon with 16 GPUs of ten slots and 100 clients that take turns,
beside a real kubelet and API server, while its metrics are read once a second. private_mib_beside is its resident
memory, which includes shared pages of programs and libraries.

Control: the kubelet beside it, measured in the same way.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.cluster import cluster
from benchmarks.isolation import turn_taker
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.machine import Machine
from testing.processes import Failed

GOAL = Goal("<=", 25.0)
CASES = ("100_clients",)
_MACHINE = Machine(nodes=1, gpus_per_node=16)
_SLOTS_PER_GPU, _PODS, _SLOTS_OF_A_POD = 10, 10, 10
_IMAGE = "crossover.test/sleep:1"
_LISTEN = "127.0.0.1:9401"
_GET = f"import urllib.request; print(urllib.request.urlopen('http://{_LISTEN}/metrics').read().decode())"
_SECONDS = 30
_FIELDS = {"private": ("Private_Clean:", "Private_Dirty:"), "resident": ("Rss:",)}


def measure(context, case):
    with cluster.running(context.build, _MACHINE, {"metrics": {"listen": _LISTEN}, "guard": "off"},
                         {"slots_per_gpu": _SLOTS_PER_GPU}) as running:
        running.cluster.image_of(_IMAGE, {"/bin/sleep": "/bin/sleep"})
        alone = _memory_of(running.daemons.processes(0))
        for number in range(_PODS):
            _start_clients(running, number)
        samples = []
        for _ in range(_SECONDS):
            time.sleep(1.0)
            said = _metrics(running)
            samples.append(_memory_of(running.daemons.processes(0)))
        running.daemons.check()
        kubelet = _memory_of(running.cluster.processes.family("kubelet-1"))["private"]
    clients = _counted(said, "crossover_clients")
    turns = _counted(said, "crossover_turns_total")
    if clients != _PODS * _SLOTS_OF_A_POD or turns < clients:
        raise Failed(f"{clients:.0f} clients took {turns:.0f} turns")
    condition = (f"{_MACHINE.gpus_per_node} GPUs of {_SLOTS_PER_GPU} slots, {_PODS} pods of {_SLOTS_OF_A_POD} slots "
                 f"each on a real kubelet, {clients:.0f} clients, {turns:.0f} turns; the most of {_SECONDS} looks, one "
                 "a second")
    private = tuple(sample["private"] for sample in samples)
    yield Measured("private_mib", case, max(private), "MiB", GOAL, private,
                   controlled(GOAL, "the kubelet", kubelet), condition, {"before_the_clients": alone["private"]})
    resident = tuple(sample["resident"] for sample in samples)
    yield Measured("private_mib_beside", case, max(resident), "MiB, resident", Goal(), (stats.median(resident),), None,
                   condition)


def _start_clients(running, number):
    """Starts a pod with its slots, and a process of it that takes turns on their GPUs."""
    node, gang, gpus = running.cluster.nodes[0], f"job-{number}", running.gpus.uuids(0)
    first = number * _SLOTS_OF_A_POD
    wanted = [gpus[(first + each) % len(gpus)] for each in range(_SLOTS_OF_A_POD)]
    _, groups = cluster.new_pod(running, node, f"pod-{number}", _IMAGE, _SLOTS_OF_A_POD, wanted, gang)
    cluster.start_client(running, node, groups, gang, turn_taker.command(cluster.ARBITER_SOCKET, gang, wanted))
    cluster.await_words(running, gang, "ready")


def _metrics(running):
    return subprocess.run(running.cluster.nodes[0].enter([sys.executable, "-c", _GET]), check=True,
                          capture_output=True, text=True).stdout


def _counted(metrics, name):
    """Returns the sum of all series of a metric."""
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", metrics, re.MULTILINE))


def _memory_of(pids):
    """Returns the MiB of the largest of some processes. The others are small wrappers that started it."""
    return max(({kind: _sum_of(pid, fields) for kind, fields in _FIELDS.items()} for pid in pids),
               key=lambda sizes: sizes["private"])


def _sum_of(pid, fields):
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith(fields)) / 1024
