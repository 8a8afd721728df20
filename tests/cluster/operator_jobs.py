"""Jobs for operators: those of manifests/examples, under names of their own, on nodes that KWOK plays."""

import copy
from pathlib import Path

import yaml

from tests.cluster.gang_cluster import FAKE, POOL

_EXAMPLES = Path(__file__).resolve().parents[2] / "manifests/examples"
_SHARE, _MEMORY = "crossover.dev/share", "crossover.dev/gpu-memory"
WHOLE = "whole"  # the pool of nodes that have whole GPUs to give


def example(file, name, kind=None):
    """The job of an example, by another name; `kind`: where there are other objects beside it."""
    for thing in yaml.safe_load_all((_EXAMPLES / file).read_text(encoding="utf-8")):
        if kind in (None, thing["kind"]):
            thing = copy.deepcopy(thing)  # YAML's aliases are one thing
            thing["metadata"] |= {"name": name}
            for template in templates(thing):
                template["spec"] = copy.deepcopy(template["spec"])
                template["spec"]["nodeSelector"] = {POOL: FAKE}
                if asks_for_gpus(template):
                    template["metadata"]["annotations"][_MEMORY] = "30Gi"
            return thing
    raise ValueError(f"{file}: no {kind}")


def plain(job):
    """The same without a word to Crossover, on nodes that have whole GPUs."""
    for template in templates(job):
        marks = template.get("metadata", {}).get("annotations", {})
        for key in [key for key in marks if key.startswith("crossover.dev/")]:
            del marks[key]
        template["spec"]["nodeSelector"] = {POOL: WHOLE}
    return job


def templates(thing):
    """All pod templates within it."""
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
    """The same, of a part of the job that has none and takes no part in it."""
    template = copy.deepcopy(template)
    template["metadata"].pop("annotations", None)
    for container in template["spec"]["containers"]:
        container.pop("resources", None)
    return template
