"""Turns the chart's PodMonitors into configuration as Prometheus' operator does, for a Prometheus that is told the
pods. Targets look as Prometheus' own pod discovery finds them. Scrape configurations have the relabelling that the
operator writes before a monitor's.
"""

import re

from testing.chart import objects

_NAMESPACE, _POD = "__meta_kubernetes_namespace", "__meta_kubernetes_pod_"
_WRITTEN_ANEW = ("port", "path", "interval", "authorization", "relabelings")


def monitors():
    return [item for item in objects("monitoring.podMonitor.enabled=true") if item["kind"] == "PodMonitor"]


def targets(pods):
    """Returns one target for each port of each container."""
    return [{"targets": [f"{_host(pod['status']['podIP'])}:{port['containerPort']}"],
             "labels": _of_pod(pod) | {f"{_POD}container_name": container["name"],
                                       f"{_POD}container_port_name": port["name"]}}
            for pod in pods for container in pod["spec"]["containers"] for port in container.get("ports", ())]


def _host(address):
    return f"[{address}]" if ":" in address else address


def _of_pod(pod):
    metadata = pod["metadata"]
    found = {_NAMESPACE: metadata["namespace"], f"{_POD}name": metadata["name"],
             f"{_POD}node_name": pod["spec"]["nodeName"], f"{_POD}phase": pod["status"]["phase"]}
    for key, value in metadata["labels"].items():
        found |= dict(zip(_of_label(key), (value, "true")))
    return found


def _of_label(key):
    """Returns the meta labels for a pod label: the one with its value, and the one that says it is present."""
    name = re.sub(r"\W", "_", key)
    return [f"{_POD}label_{name}", f"{_POD}labelpresent_{name}"]


def scrapes(monitor, authorization=None):
    """Returns scrape configurations without targets and intervals. `authorization` goes to endpoints where the monitor
    asks for one. Fields that this code does not know are passed on as they are: Prometheus refuses them."""
    spec = dict(monitor["spec"])
    selector, endpoints = spec.pop("selector")["matchLabels"], spec.pop("podMetricsEndpoints")
    name = f"{monitor['metadata']['namespace']}/{monitor['metadata']['name']}"
    found = []
    for number, endpoint in enumerate(endpoints):
        same = {key: value for key, value in endpoint.items() if key not in _WRITTEN_ANEW}
        shown = {"authorization": authorization} if authorization and "authorization" in endpoint else {}
        found.append(_renamed(spec | same) | shown | {
            "job_name": f"podMonitor/{name}/{number}", "metrics_path": endpoint["path"],
            "relabel_configs": _operators(name, selector, endpoint["port"]) + _renamed(endpoint["relabelings"])})
    return found


def _operators(name, selector, port):
    """Returns the operator's rules: which targets are kept, and the labels that each has."""
    return [{"action": "drop", "source_labels": [f"{_POD}phase"], "regex": "(Failed|Succeeded)"},
            *({"action": "keep", "source_labels": _of_label(key), "regex": f"({value});true"}
              for key, value in sorted(selector.items())),
            {"action": "keep", "source_labels": [f"{_POD}container_port_name"], "regex": port},
            {"source_labels": [_NAMESPACE], "target_label": "namespace"},
            {"source_labels": [f"{_POD}container_name"], "target_label": "container"},
            {"source_labels": [f"{_POD}name"], "target_label": "pod"},
            {"target_label": "job", "replacement": name}, {"target_label": "endpoint", "replacement": port}]


def _renamed(value):
    """Returns the value with Prometheus' names for the operator's, as source_labels for sourceLabels."""
    if isinstance(value, list):
        return [_renamed(inner) for inner in value]
    if isinstance(value, dict):
        return {re.sub("[A-Z]", lambda big: f"_{big[0].lower()}", key): _renamed(inner) for key, inner in value.items()}
    return value
