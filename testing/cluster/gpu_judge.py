"""Finds GPUs that more pods have than there are slots, and GPUs that two pods of one gang have."""

import json

ASSIGNMENT = "crossover.dev/assignment"
_JOB = "batch.kubernetes.io/job-name"


class GpuJudge:
    """Judges by the pods' assignments and by the GPUNodes. Each GPU has `slots` slots."""

    def __init__(self, slots):
        self._slots = slots
        self._given = {}  # {pod UID: its GPUs}
        self._said = {}  # {node: {GPU: its holders}}, from the GPUNode
        self.overfull, self.two_ranks = {}, {}  # {GPU: the pods that were on it}

    @property
    def found(self):
        return set(self.overfull) | set(self.two_ranks)

    def on_pod(self, _when, kind, pod):
        if kind == "ERROR":
            return
        uid = pod["metadata"]["uid"]
        over = kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        holders = {} if over or not pod["spec"].get("nodeName") else holders_of(pod)
        if self._given.get(uid, {}) == holders:
            return
        self._given.pop(uid, None)
        if holders:
            self._given[uid] = holders
            for gpu in holders:
                self._judge(gpu, [held[gpu] for held in self._given.values() if gpu in held])

    def on_gpu_node(self, _when, kind, node):
        if kind not in ("ADDED", "MODIFIED"):
            return
        gpus = {gpu["uuid"]: gpu.get("holders") or () for gpu in node.get("status", {}).get("gpus") or ()}
        self._said[node["metadata"]["name"]] = gpus
        for gpu, holders in gpus.items():
            self._judge(gpu, holders)

    def held(self, job):
        """Returns the GPUs that pods of a Job have, by what their nodes say."""
        return sorted(gpu for gpus in list(self._said.values()) for gpu, holders in gpus.items()
                      for holder in holders if holder["pod"].rsplit("-", 2)[0] == job)

    def _judge(self, gpu, holders):
        pods = {(holder["namespace"], holder.get("gang", ""), holder["pod"]) for holder in holders}
        if len(holders) > self._slots:
            self.overfull[gpu] = sorted(pods)
        gangs = [(space, gang) for space, gang, _ in pods if gang]
        if len(set(gangs)) < len(gangs):
            self.two_ranks[gpu] = sorted(pods)


def holders_of(pod):
    """Returns {GPU: its holder, as in a GPUNode} by the pod's assignment."""
    metadata = pod["metadata"]
    text = metadata.get("annotations", {}).get(ASSIGNMENT)
    if not text:
        return {}
    gang = metadata["annotations"].get("crossover.dev/gang") or metadata.get("labels", {}).get(_JOB, "")
    return {gpu: {"namespace": metadata["namespace"], "pod": metadata["name"], "container": container,
                  "gang": gang, "slots": [f"{gpu}::0"]}
            for container, gpus in json.loads(text)["containers"].items() for gpu in gpus}
