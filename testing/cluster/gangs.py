"""Makes gangs for tests of placement: Indexed Jobs whose pods ask for slots and sleep until they are deleted."""

import json

from testing.cluster.gpu_judge import ASSIGNMENT
from testing.cluster.pods import MARKED, SLOT, restricted

JOBS = "/apis/batch/v1/namespaces/{}/jobs"
IMAGE = "crossover.test/sleep:1"  # on real nodes; KWOK looks at no image

ADMITTED = "as the webhook leaves pods, for clusters that have none"
ANNOTATED = "as users write them: whole GPUs and one annotation"
PLAIN = "slots alone, for the default scheduler"
BY_HAND = "slots alone, for a scheduler that is not there"


def indexed_job(name, pods, gpus=1, how=ADMITTED, annotations=None, requests=None, **more):
    """Returns an Indexed Job. `requests` are resources besides GPUs; `more` goes into the pods' spec."""
    pod = restricted(name, IMAGE, ["/bin/sleep", "10000"], **more)
    marks, labels, spec = dict(annotations or {}), {}, pod["spec"]
    resource = "nvidia.com/gpu" if how == ANNOTATED else SLOT
    resources = {resource: str(gpus), **(requests or {})}
    spec["containers"][0]["resources"] = {"limits": resources, "requests": resources}
    if how in (ADMITTED, ANNOTATED):
        marks.setdefault("crossover.dev/share", "true")
    if how == ADMITTED:
        labels |= MARKED
        spec |= {"schedulerName": "crossover-scheduler", "schedulingGates": [{"name": "crossover.dev/gang"}]}
    if how == BY_HAND:
        spec["schedulerName"] = "by-hand"
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"completions": pods, "parallelism": pods, "completionMode": "Indexed", "backoffLimit": 100,
                     "template": {"metadata": {"annotations": marks, "labels": labels}, "spec": spec}}}


def bind_by_hand(api, pod, node, gpus):
    """Binds a pod as the extender would, with these GPUs. The extender is not asked."""
    metadata = pod["metadata"]
    api.create(f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/binding", {
        "apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": metadata["name"], "uid": metadata["uid"],
                     "annotations": {ASSIGNMENT: json.dumps({"containers": {"main": list(gpus)}})}},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node}})
