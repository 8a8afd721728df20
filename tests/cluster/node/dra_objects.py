"""Makes objects of dynamic resource allocation as NVIDIA's driver and the scheduler make them."""

import json

_DRIVER = "gpu.nvidia.com"
_API = "resource.k8s.io/v1"


def _slice_name(node):
    return f"{node}-{_DRIVER}"


def make_slice(cluster, node, gpus):
    """Makes the ResourceSlice of a node. `gpus` is {name of the device: UUID}."""
    devices = [{"name": name, "attributes": {"type": {"string": "gpu"}, "uuid": {"string": uuid}}}
               for name, uuid in gpus.items()]
    body = {"apiVersion": _API, "kind": "ResourceSlice", "metadata": {"name": _slice_name(node)},
            "spec": {"driver": _DRIVER, "nodeName": node, "devices": devices,
                     "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}}
    cluster.kubectl("create", "--filename", "-", input=json.dumps(body))


def delete_slice(cluster, node):
    cluster.kubectl("delete", "resourceslice", _slice_name(node))


def make_claim(cluster, namespace, name, node, device):
    """Makes a ResourceClaim and allocates it a device of a node, in the scheduler's place."""
    request = {"name": "gpu", "exactly": {"deviceClassName": _DRIVER}}
    body = {"apiVersion": _API, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": namespace},
            "spec": {"devices": {"requests": [request]}}}
    cluster.kubectl("create", "--filename", "-", input=json.dumps(body))
    result = {"request": "gpu", "driver": _DRIVER, "pool": node, "device": device}
    status = {"status": {"allocation": {"devices": {"results": [result]}}}}
    cluster.kubectl("patch", "resourceclaim", name, "--namespace", namespace, "--subresource", "status", "--type",
                    "merge", "--patch", json.dumps(status))
