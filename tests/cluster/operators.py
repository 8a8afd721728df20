"""Other people's operators on a test cluster: their programs, in pods of its real node, by the manifests that their
makers tell users to install (tools/install/operators.sh made both). Nothing of theirs is switched off.
"""

import json

import yaml

from tests.cluster.rig import Refused, versions

# By the folder of tools/install: the program.
_PROGRAMS = {"jobset": "jobset", "lws": "cmd", "kueue": "kueue", "mpi-operator": "mpi-operator",
             "training-operator": "training-operator.v1"}
_READY_WITHIN_S = 180


def missing(name):
    """What keeps an operator from being installed, in words; "": nothing."""
    files = _folder(name) / _PROGRAMS[name], _folder(name) / "manifests.yaml"
    lacking = [file for file in files if not file.exists()]
    return f"missing: {', '.join(map(str, lacking))}; to install: tools/install.sh --matrix" if lacking else ""


def install(cluster, name):
    """Until it is ready. Refused where it was not built."""
    if missing(name):
        raise Refused(missing(name))
    image = f"crossover.test/{name}:{version(name)}"
    cluster.image_of(image, {"/manager": _folder(name) / _PROGRAMS[name]})
    objects = list(yaml.load_all((_folder(name) / "manifests.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader))
    if versions.begins(cluster.setup.programs.kube_version, "1.31"):
        _leave_out_later_rules(objects)
    deployments = [thing for thing in objects if thing["kind"] == "Deployment"]
    for deployment in deployments:
        _run_here(deployment, image, cluster.nodes[0].name)
    # It begins as YAML does: kubectl 1.31 takes what begins with a brace for JSON to the end.
    text = "".join(f"---\n{json.dumps(thing)}\n" for thing in objects)
    cluster.kubectl("apply", "--server-side", "--filename", "-", input=text)
    for deployment in deployments:
        meta = deployment["metadata"]
        cluster.kubectl("wait", "--for=condition=Available", f"deployment/{meta['name']}", "--namespace",
                        meta["namespace"], f"--timeout={_READY_WITHIN_S}s", timeout_s=_READY_WITHIN_S + 10.0)


def _leave_out_later_rules(objects):
    """JobSet's definition has a rule about the metadata of templates, which API servers of 1.31 do not compile."""
    for thing in objects:
        if thing["kind"] == "CustomResourceDefinition":
            for served in thing["spec"]["versions"]:
                spec = served["schema"]["openAPIV3Schema"].get("properties", {}).get("spec", {})
                policies = spec.get("properties", {}).get("volumeClaimPolicies", {})
                policies.get("items", {}).pop("x-kubernetes-validations", None)


def version(name):
    """The one that is pinned."""
    return versions.pinned(name)[0]


def _folder(name):
    return versions.cache() / f"{name}-{version(name)}"


def _run_here(deployment, image, node):
    """Its image is that of the program, its node one with a kubelet; what it asks for a small machine may not have."""
    spec = deployment["spec"]["template"]["spec"]
    deployment["spec"]["replicas"] = 1
    spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    for container in spec["containers"]:
        container.pop("resources", None)
        container |= {"image": image, "imagePullPolicy": "Never", "command": ["/manager"]}
