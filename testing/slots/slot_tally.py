"""Compares what containers got with what they were assigned. Pure."""

from collections import Counter
from dataclasses import dataclass, field

from testing.slots.slot_pods import gpus_of

_EXAMPLES = 10


@dataclass
class Tally:
    """Counts containers and pods. `differing` is how many containers got other GPUs than they were assigned."""

    containers: int = 0
    differing: int = 0
    pods: int = 0
    rejected: Counter = field(default_factory=Counter)  # pods, by the kubelet's reason
    largest_burst: int = 0
    examples: list = field(default_factory=list)

    def add(self, pod, verdict):
        """Counts a pod. If it was rejected, its containers count as having other GPUs than assigned: they have none."""
        self.pods += 1
        if "rejected" in verdict:
            self.rejected[verdict["rejected"]] += 1
        wrong = differing(pod, verdict)
        self.containers += len(pod.containers)
        self.differing += len(wrong)
        self.examples = (self.examples + [f"{pod.name}/{name}" for name in wrong])[:_EXAMPLES]

    @property
    def rate(self):
        return self.differing / self.containers if self.containers else None

    def remarks(self):
        return {"pods": self.pods, "containers": self.containers, "differing": self.differing,
                "rejected": dict(self.rejected.most_common(5)), "largest_burst": self.largest_burst,
                "examples": self.examples}


def differing(pod, verdict):
    """Returns the names of containers that did not get the GPUs that they were assigned."""
    given = verdict.get("containers", {})
    return [c.name for c in pod.containers if gpus_of(given.get(c.name, {}).get("ids", ())) != c.gpus]
