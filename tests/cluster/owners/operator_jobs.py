"""Returns jobs for operators: those of manifests/examples, renamed, for nodes that KWOK plays."""

import copy
from pathlib import Path

import yaml

from testing.cluster.gang_cluster import FAKE, POOL
from testing.cluster.rig.kwok import ENDS

_EXAMPLES = Path(__file__).resolve().parents[3] / "manifests/examples"
_SHARE, _MEMORY = "crossover.dev/share", "crossover.dev/gpu-memory"
WHOLE = "whole"  # the pool of nodes with whole GPUs


def example(file, name, kind=None):
    """Returns the job of an example under another name. `kind` chooses where a file has several objects."""
    for thing in yaml.safe_load_all((_EXAMPLES / file).read_text(encoding="utf-8")):
        if kind in (None, thing["kind"]):
            thing = copy.deepcopy(thing)  # YAML aliases share one object
            thing["metadata"] |= {"name": name}
            for template in templates(thing):
                template["spec"] = copy.deepcopy(template["spec"])
                template["spec"]["nodeSelector"] = {POOL: FAKE}
                if asks_for_gpus(template):
                    template["metadata"]["annotations"][_MEMORY] = "30Gi"
                    if thing["kind"] in ("Job", "JobSet"):  # they have a podFailurePolicy
                        template["metadata"]["annotations"][ENDS] = "true"
            return thing
    raise ValueError(f"{file}: no {kind}")


def plain(job):
    """Returns the job without Crossover's annotations, for nodes with whole GPUs."""
    for template in templates(job):
        marks = template.get("metadata", {}).get("annotations", {})
        for key in [key for key in marks if key.startswith("crossover.dev/")]:
            del marks[key]
        template["spec"]["nodeSelector"] = {POOL: WHOLE}
    return job


def templates(thing):
    """Returns all pod templates within an object."""
    if isinstance(thing, list):
        return [template for each in thing for template in templates(each)]
    if not isinstance(thing, dict):
        return []
    if isinstance(thing.get("spec"), dict) and "containers" in thing["spec"]:
        return [thing]
    return [template for each in thing.values() for template in templates(each)]


def asks_for_gpus(template):
    return any("nvidia.com/gpu" in container.get("resources", {}).get("limits", {})
               for container in template["spec"]["containers"])


def without_gpus(template):
    """Returns a copy of the template without GPUs and annotations, for a part of the job that does not share."""
    template = copy.deepcopy(template)
    template["metadata"].pop("annotations", None)
    for container in template["spec"]["containers"]:
        container.pop("resources", None)
    return template
