"""Reads the kubelet's checkpoint of the devices that it gave to pods."""

import json

_FILE = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"


def devices(node, uids):
    """Returns (pod, resource, device ID) of each device of the pods with these UIDs; nothing before the first
    allocation."""
    try:
        kept = json.loads(node.reach(_FILE).read_text(encoding="utf-8"))["Data"]["PodDeviceEntries"]
    except FileNotFoundError:
        return []
    return [(entry["PodUID"], entry["ResourceName"], device) for entry in kept or () if entry["PodUID"] in uids
            for of_numa_node in entry["DeviceIDs"].values() for device in of_numa_node]
