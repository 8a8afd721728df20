"""GPUNodes of nodes that have no daemon: what one would publish, from where pods were bound and what they were
assigned. Thousands of nodes, one thread."""

import json
import threading

from tests.cluster.rig.api import Watch

_PODS = "/api/v1/pods"
_GPU_NODES = "/apis/crossover.dev/v1alpha1/gpunodes"
ASSIGNMENT = "crossover.dev/assignment"


def uuid(node, gpu):
    return f"GPU-{node}-{gpu}"


class FakeGpus:
    """A context. `nodes`: names, each of `gpus` GPUs with `slots` slots."""

    def __init__(self, api, nodes, gpus, slots=2, memory_gib=80, sharing="mps"):
        self._api, self._nodes, self._gpus, self._slots = api, list(nodes), gpus, slots
        self._memory, self._sharing = memory_gib << 30, sharing
        self._holders = {node: {} for node in nodes}  # by pod UID
        self._changed, self._wake = set(), threading.Condition()
        self._ended = False
        self.overfull = []  # a GPU with more holders than slots, as it was seen
        self.two_ranks = []  # a pod whose gang has another pod on the same GPU

    def __enter__(self):
        for node in self._nodes:
            self._api.create(_GPU_NODES, self._object(node))
        self._watch = Watch(self._api, _PODS, self._on_pod)
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
        held = {} if over else self._held(pod)
        with self._wake:
            holders = self._holders[node]
            if holders.get(pod["metadata"]["uid"], {}) == held:
                return
            if held:
                holders[pod["metadata"]["uid"]] = held
                self._judge(node)
            else:
                del holders[pod["metadata"]["uid"]]
            self._changed.add(node)
            self._wake.notify()

    @staticmethod
    def _held(pod):
        """{GPU: holder}"""
        metadata = pod["metadata"]
        text = metadata.get("annotations", {}).get(ASSIGNMENT)
        if not text:
            return {}
        gang = metadata.get("annotations", {}).get("crossover.dev/gang", metadata["name"].rsplit("-", 1)[0])
        return {gpu: {"namespace": metadata["namespace"], "pod": metadata["name"], "container": container,
                      "gang": gang, "slots": [f"{gpu}::0"]}
                for container, gpus in json.loads(text)["containers"].items() for gpu in gpus}

    def _judge(self, node):
        by_gpu = {}
        for held in self._holders[node].values():
            for gpu, holder in held.items():
                by_gpu.setdefault(gpu, []).append((holder["namespace"], holder["gang"], holder["pod"]))
        for gpu, found in by_gpu.items():
            if len(found) > self._slots:
                self.overfull.append((gpu, sorted(found)))
            if len({(space, gang) for space, gang, _ in found}) < len(found):
                self.two_ranks.append((gpu, sorted(found)))

    def _publish(self):
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._changed or self._ended)
                if self._ended:
                    return
                node = self._changed.pop()
                thing = self._object(node)
            self._api.apply(f"{_GPU_NODES}/{node}", thing)

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
