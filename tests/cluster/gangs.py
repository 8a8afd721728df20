"""Gangs for tests of placement: Indexed Jobs whose pods ask for slots and do nothing, for a given time."""

from tests.cluster.pods import SLOT, restricted
from tests.cluster.rig.kwok import RUNS_FOR

JOBS = "/apis/batch/v1/namespaces/{}/jobs"


def indexed_job(name, pods, slots=1, runs_for=None, annotations=None, requests=None, admitted=True):
    """`runs_for`: such as "3s", on nodes that KWOK plays; None: for ever. `admitted`: as the webhook leaves pods, for
    clusters that have none."""
    marks = {"crossover.dev/share": "true", **({RUNS_FOR: runs_for} if runs_for else {}), **(annotations or {})}
    resources = {SLOT: str(slots), **(requests or {})}
    spec = restricted(name, "crossover.test/nothing:1", ["/nothing"])["spec"]
    spec["containers"][0]["resources"] = {"limits": resources, "requests": resources}
    labels = {}
    if admitted:
        labels["crossover.dev/managed"] = "true"
        spec |= {"schedulerName": "crossover-scheduler", "schedulingGates": [{"name": "crossover.dev/gang"}]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"completions": pods, "parallelism": pods, "completionMode": "Indexed", "backoffLimit": 100,
                     "template": {"metadata": {"annotations": marks, "labels": labels}, "spec": spec}}}
