"""decision_us: how long a scheduler waits for filter and prioritize of one pod together, at the extender's own port and
all of HTTP included, on 5,000 nodes half of whose GPUs have a pod, while 200 pods come or go a second by the word of a
real API server; the 99th percentile.

Control: an extender that stands still for five milliseconds in each fifty.
"""

import http.client
import json
import os
import signal
import threading
import time

from benchmarks import large_cluster, stats
from benchmarks.processes import Failed
from benchmarks.results import Goal, Measured, controlled
from tests.cluster import fake_gpus
from tests.cluster.rig.api import Watch, connected_in

GOAL = Goal("<=", 2000.0)
CASES = ("5000_nodes",)
_NODES, _GPUS, _FILLED = 5000, 8, 4
_CHANGES_PER_S = 200
_GANGS, _OF_THE_CONTROL = 500, 200
_STILL_S, _EVERY_S = 0.005, 0.05
_PLANNED_WITHIN_S = 60.0


def measure(context, case):
    with large_cluster.standing(context, _NODES, _GPUS, _FILLED, {"lease": "off"}) as large, \
            _Changes(large) as changes:
        waits = _waits(large, "asked", _GANGS)
        context.say(f"    {stats.summary(waits)} us")
        rate = changes.rate()
        with _StandingStill(large):
            late = _waits(large, "late", _OF_THE_CONTROL)
        large.control.check_extenders()
    if rate < _CHANGES_PER_S:
        raise Failed(f"{rate:.0f} changes a second were made, not {_CHANGES_PER_S}")
    condition = (f"{_NODES} nodes of {_GPUS} GPUs, {_FILLED} of them with a pod of one slot; {rate:.0f} pods come or "
                 f"go a second; {_GANGS} gangs of one pod that have a plan; the scheduler offers all nodes; its end of "
                 "the connection is a Python program")
    yield Measured("decision_us", case, stats.percentile(waits, 99), "us", GOAL, (stats.percentile(waits, 99),),
                   controlled(GOAL, "an extender that stands still for 5 ms in each 50", stats.percentile(late, 99)),
                   condition, {"p50": stats.median(waits), "worst": max(waits)})


def _waits(large, name, count):
    """Microseconds for each of some gangs of one pod, once they have a plan."""
    ungated, changed = {}, threading.Condition()

    def on_pod(_when, kind, pod):
        with changed:
            if kind in ("ADDED", "MODIFIED") and not pod["spec"].get("schedulingGates"):
                ungated[pod["metadata"]["name"]] = pod
            changed.notify()

    names = [f"{name}-{number}" for number in range(count)]
    with Watch(large.cluster.api(), large_cluster.PODS.format(large_cluster.SPACE), on_pod):
        for each in names:
            large.api.create(large_cluster.PODS.format(large_cluster.SPACE), large_cluster.pod(each))
        with changed:
            if not changed.wait_for(lambda: set(names) <= set(ungated), _PLANNED_WITHIN_S):
                raise Failed(f"{len(set(names) - set(ungated))} of {count} gangs have no plan; the extender: "
                             f"{large.control.said('extender-0')[-1000:]}")
    scheduler = _Scheduler(large)
    try:
        return [scheduler.wait_us(ungated[each]) for each in names]
    finally:
        scheduler.close()


class _Scheduler:
    """Asks as one does that has no reason against any node."""

    def __init__(self, large):
        self._nodes = large.nodes
        address = ("127.0.0.1", large.control.replicas[0].verbs)
        self._connection = http.client.HTTPConnection(*address, timeout=10)
        self._connection.sock = connected_in(large.cluster.network_pid, address)

    def close(self):
        self._connection.close()

    def wait_us(self, pod):
        question = json.dumps({"Pod": pod, "Nodes": None, "NodeNames": self._nodes}).encode()
        filtered, first_s = self._ask("/filter", question)
        left = json.loads(filtered)["NodeNames"]
        if len(left) != 1:
            raise Failed(f"{len(left)} nodes are left for {pod['metadata']['name']}: {filtered[:300]}")
        question = json.dumps({"Pod": pod, "Nodes": None, "NodeNames": left}).encode()
        _, second_s = self._ask("/prioritize", question)
        return (first_s + second_s) * 1e6

    def _ask(self, verb, question):
        began = time.perf_counter()
        self._connection.request("POST", verb, question, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        said = answer.read()
        took_s = time.perf_counter() - began
        if answer.status != 200:
            raise Failed(f"{verb}: status {answer.status}: {said[:300]}")
        return said, took_s


class _Changes:
    """Threads that end pods that have slots and make them anew, so many of both a second together."""

    _THREADS = 3

    def __init__(self, large):
        self._large = large
        self._made, self._began, self._failures = [0] * self._THREADS, 0.0, []
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._change, args=(number, large.cluster.api()), daemon=True)
                         for number in range(self._THREADS)]

    def __enter__(self):
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc):
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def rate(self):
        """Changes a second, so far."""
        if self._failures:
            raise self._failures[0]
        return sum(self._made) / (time.monotonic() - self._began)

    def _change(self, thread, api):
        path = large_cluster.PODS.format(large_cluster.HELD_SPACE)
        pause_s = self._THREADS / (1.05 * _CHANGES_PER_S)
        nodes = self._large.nodes[thread::self._THREADS]
        try:
            while not self._ending.wait(max(0.0, self._began + self._made[thread] * pause_s - time.monotonic())):
                node = nodes[self._made[thread] // 2 % len(nodes)]
                if self._made[thread] % 2 == 0:
                    api.delete(f"{path}/{node}-0")
                else:
                    api.create(path, large_cluster.pod(f"{node}-0", [fake_gpus.uuid(node, 0)], node))
                self._made[thread] += 1
        except Failed as failure:
            self._failures.append(failure)


class _StandingStill:
    """The control: stops the extender, again and again."""

    def __init__(self, large):
        self._pid = large.extender_pid()
        # Those that lead to it stand still with it, and would never see it end.
        self._family = large.cluster.processes.family(large.control.replicas[0].extender)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._stop_and_go, daemon=True)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *exc):
        self._ending.set()
        self._thread.join()

    def _stop_and_go(self):
        while not self._ending.wait(_EVERY_S - _STILL_S):
            os.kill(self._pid, signal.SIGSTOP)
            time.sleep(_STILL_S)
            for pid in self._family:
                os.kill(pid, signal.SIGCONT)
