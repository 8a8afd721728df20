"""Installs other projects' operators on a test cluster. Their programs run in pods of its real node, with the manifests
that their makers tell users to install (tools/install/operators.sh makes both). No part of them is switched off.
"""

import json

import yaml

from testing.cluster.rig import Refused, versions

# {folder of tools/install: its program}. The Descheduler and Karpenter are made in the same way.
_PROGRAMS = {"jobset": "jobset", "lws": "cmd", "kueue": "kueue", "mpi-operator": "mpi-operator",
             "training-operator": "training-operator.v1", "kuberay": "ray-operator", "descheduler": "descheduler",
             "karpenter": "kwok"}
_READY_WITHIN_S = 180


def missing(name):
    """Returns what keeps an operator from being installed, in words, or "" if nothing does."""
    files = program(name), _folder(name) / "manifests.yaml"
    lacking = [file for file in files if not file.exists()]
    return f"missing: {', '.join(map(str, lacking))}; to install: tools/install.sh --matrix" if lacking else ""


def install(cluster, name):
    """Installs an operator and blocks until it is ready. Raises Refused if it was not built."""
    if missing(name):
        raise Refused(missing(name))
    image = f"crossover.test/{name}:{version(name)}"
    cluster.image_of(image, {"/manager": program(name)})
    objects = list(yaml.load_all((_folder(name) / "manifests.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader))
    if versions.begins(cluster.setup.programs.kube_version, "1.31"):
        _leave_out_later_rules(objects)
    deployments = [thing for thing in objects if thing["kind"] == "Deployment"]
    for deployment in deployments:
        _run_here(deployment, image, cluster.nodes[0].name)
    # The text begins as YAML does: kubectl 1.31 reads a text that begins with a brace as JSON to its end.
    text = "".join(f"---\n{json.dumps(thing)}\n" for thing in objects)
    cluster.kubectl("apply", "--server-side", "--filename", "-", input=text)
    for deployment in deployments:
        meta = deployment["metadata"]
        cluster.kubectl("wait", "--for=condition=Available", f"deployment/{meta['name']}", "--namespace",
                        meta["namespace"], f"--timeout={_READY_WITHIN_S}s", timeout_s=_READY_WITHIN_S + 10.0)


def _leave_out_later_rules(objects):
    """Removes a rule about the metadata of templates from JobSet's definition. API servers of 1.31 cannot compile
    it."""
    for thing in objects:
        if thing["kind"] == "CustomResourceDefinition":
            for served in thing["spec"]["versions"]:
                spec = served["schema"]["openAPIV3Schema"].get("properties", {}).get("spec", {})
                policies = spec.get("properties", {}).get("volumeClaimPolicies", {})
                policies.get("items", {}).pop("x-kubernetes-validations", None)


def version(name):
    """Returns the pinned version."""
    return versions.pinned(name)[0]


def program(name):
    """Returns the file of the operator's program, whether it exists or not."""
    return _folder(name) / _PROGRAMS[name]


def _folder(name):
    return versions.cache() / f"{name}-{version(name)}"


def _run_here(deployment, image, node):
    """Sets the operator's own image, and a node that has a kubelet. Resource requests go: a small machine may not have
    so much."""
    spec = deployment["spec"]["template"]["spec"]
    deployment["spec"]["replicas"] = 1
    spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    for container in spec["containers"]:
        container.pop("resources", None)
        container |= {"image": image, "imagePullPolicy": "Never", "command": ["/manager"]}
