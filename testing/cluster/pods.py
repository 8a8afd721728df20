"""Returns pods for tests."""

import json

SLOT = "crossover.dev/slot"
MARKED = {"crossover.dev/managed": "true"}  # the label that the webhook puts on pods it admits


def assigned(pod, gang, uuid):
    """Returns a pod as it is once it was admitted and placed: of a gang, on one GPU."""
    pod["metadata"] |= {"labels": MARKED, "annotations": {
        "crossover.dev/gang": gang, "crossover.dev/assignment": json.dumps({"containers": {"main": [uuid]}})}}
    return pod


def restricted(name, image, command, node=None, **more):
    """Returns a pod that the level "restricted" of Pod Security accepts. It is stricter still: its root file system is
    read-only."""
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            **({"nodeSelector": {"kubernetes.io/hostname": node}} if node else {}),
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "main", "image": image, "imagePullPolicy": "Never", "command": command,
                "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                    "capabilities": {"drop": ["ALL"]}}}],
            **more}}


def with_slots(name, image, command, node=None, slots=1, **more):
    """Returns such a pod that asks for slots. `more` goes into its spec."""
    pod = restricted(name, image, command, node, **more)
    pod["spec"]["containers"][0]["resources"] = {"limits": {SLOT: str(slots)}}
    return pod
