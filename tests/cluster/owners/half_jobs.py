"""Records for how long jobs held GPUs with a part of their pods, from the events of a watch. A pod belongs to a job by
its name, as in job_eyes.py."""

import threading
import time
from dataclasses import dataclass, field

_MANAGED = "crossover.dev/managed"


@dataclass
class _Half:
    size: int
    pods: dict = field(default_factory=dict)  # {UID: whether the pod has succeeded}, of those that are bound
    since: float = None
    longest_s: float = 0.0

    def looks(self, when):
        running = sum(not over for over in self.pods.values())
        half = running > 0 and len(self.pods) < self.size
        if half and self.since is None:
            self.since = when
        elif not half and self.since is not None:
            self.longest_s, self.since = max(self.longest_s, when - self.since), None


class HalfJobs:
    def __init__(self):
        self._lock = threading.Lock()
        self._jobs = {}

    def expect(self, name, size):
        """Begins to look at a job. Call it before the first of its pods is created."""
        with self._lock:
            self._jobs[name] = _Half(size)

    def on_pod(self, when, kind, pod):
        if kind == "ERROR":
            return
        metadata, phase = pod["metadata"], pod.get("status", {}).get("phase")
        with self._lock:
            for name, half in self._jobs.items():
                if not metadata["name"].startswith(f"{name}-") or _MANAGED not in metadata.get("labels", {}):
                    continue
                half.pods.pop(metadata["uid"], None)
                if kind != "DELETED" and pod["spec"].get("nodeName") and phase != "Failed":
                    half.pods[metadata["uid"]] = phase == "Succeeded"
                half.looks(when)

    def longer_than(self, seconds):
        """Returns {job: s} of those that held GPUs with a part of their pods for longer than this."""
        now = time.monotonic()
        with self._lock:
            held = {name: max(half.longest_s, now - half.since if half.since is not None else 0.0)
                    for name, half in self._jobs.items()}
        return {name: longest for name, longest in held.items() if longest > seconds}
