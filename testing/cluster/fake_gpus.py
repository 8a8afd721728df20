"""Publishes the GPUNodes of nodes that have no daemon. They say what a daemon would, from the pods that were bound
there and the GPUs that these were assigned. One thread serves thousands of nodes."""

import threading

from testing.cluster.gpu_judge import holders_of
from testing.cluster.rig.api import Watch
from testing.processes import Failed

_PODS = "/api/v1/pods"
GPU_NODES = "/apis/crossover.dev/v1alpha1/gpunodes"

_RETRY_S = 0.5


def uuid(node, gpu):
    return f"GPU-{node}-{gpu}"


class FakeGpus:
    """A FakeGpus is a context that publishes while it lasts. `nodes` are names; each node has `gpus` GPUs with `slots`
    slots."""

    def __init__(self, api, nodes, gpus, slots=2, memory_gib=80, sharing="mps"):
        self._api, self._nodes, self._gpus, self._slots = api, list(nodes), gpus, slots
        self._memory, self._sharing = memory_gib << 30, sharing
        self._holders = {node: {} for node in nodes}  # {node: {pod UID: its GPUs}}
        self._changed, self._wake = set(), threading.Condition()
        self._ended = False

    def __enter__(self):
        for node in self._nodes:
            self._api.create(GPU_NODES, self._object(node))
        self._watch = Watch(self._api, _PODS, self._on_pod, patient=True)
        self._watch.__enter__()
        self._thread = threading.Thread(target=self._publish, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._watch.__exit__(*exc)
        with self._wake:
            self._ended = True
            self._wake.notify()
        self._thread.join()

    def _on_pod(self, _when, kind, pod):
        if kind == "ERROR":
            return
        node = pod.get("spec", {}).get("nodeName")
        if node not in self._holders:
            return
        over = kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        held = {} if over else holders_of(pod)
        with self._wake:
            holders = self._holders[node]
            if holders.get(pod["metadata"]["uid"], {}) == held:
                return
            if held:
                holders[pod["metadata"]["uid"]] = held
            else:
                del holders[pod["metadata"]["uid"]]
            self._changed.add(node)
            self._wake.notify()

    def _publish(self):
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._changed or self._ended)
                if self._ended:
                    return
                node = self._changed.pop()
                thing = self._object(node)
            try:
                self._api.apply(f"{GPU_NODES}/{node}", thing)
            except Failed:  # the API server may be away for a while
                with self._wake:
                    self._changed.add(node)
                    self._wake.wait_for(lambda: self._ended, _RETRY_S)

    def _object(self, node):
        gpus = []
        for number in range(self._gpus):
            name = uuid(node, number)
            holders = [held[name] for held in self._holders[node].values() if name in held]
            gpus.append({"uuid": name, "model": "Software GPU", "memoryBytes": self._memory, "slots": self._slots,
                         "healthy": True, "holders": holders})
        used = sum(len(gpu["holders"]) for gpu in gpus)
        return {"apiVersion": "crossover.dev/v1alpha1", "kind": "GPUNode", "metadata": {"name": node},
                "status": {"version": "test", "mode": "enforce", "maintenance": False, "gpus": gpus,
                           "sharing": {"kind": self._sharing, "reason": "of the test", "multiUser": False},
                           "healthyGPUs": self._gpus, "slots": self._gpus * self._slots, "usedSlots": used}}
