"""Renders charts/crossover with values, and returns the result as objects."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

from testing import rendering
from testing.cluster.rig import versions

TREE = rendering.TREE
CHART = rendering.CHART
VERSIONS = ("1.31.0", "1.34.4", "1.36.3", "1.33.5-gke.1162000")  # the tests' own, and one as a vendor writes it
MONITORING = tuple(f"monitoring.{part}.enabled=true" for part in ("podMonitor", "rules", "dashboards"))
# Each is a kind of cluster that users have. Together they turn on everything.
INSTALLATIONS = {
    "defaults": (),
    "mps and monitoring": ("mps.enabled=true", "mps.multiUser=true", "driver.runtimeClassName=nvidia", *MONITORING),
    "signals": ("mps.enabled=true", "signaller.enabled=true", "deviceplugin.config.transport=ipc",
                "signaller.image.repository=signals", "signaller.image.tag=0.1.1"),
    "a driver's folder": ("driver.root=/home/kubernetes/bin/nvidia", "deviceplugin.config.node.devices=device-nodes",
                          "deviceplugin.hostDirectory=/home/kubernetes/bin/crossover",
                          "criticalPodsQuota.enabled=true"),
    "its nodes' network": ("extender.hostNetwork=true", "webhook.port=9443", "scheduler.port=10260",
                           "extender.ports.verbs=9480", "rbac.aggregate=false"),
    "marks on its nodes": ("deviceplugin.config.node.gpu_operator=labels",
                           "deviceplugin.config.node.scale_down=disabled"),
    "cert-manager": ("webhook.certificates=cert-manager", "extender.replicas=1", "networkPolicy.enabled=false",
                     "webhook.annotations.other=x"),
    "own certificates": ("webhook.certificates=secret", "webhook.secretName=mine", "webhook.caBundle=QQ==",
                         "crds.install=false", "webhook.protectPods=false", "uninstall.force=true"),
}


def render(*values, kube_version=None, with_images=True, flags=()):
    """Returns the rendered text. Raises AssertionError with Helm's message if it fails."""
    done = template(*values, kube_version=kube_version, with_images=with_images, flags=flags)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def template(*values, kube_version=None, with_images=True, flags=()):
    images = rendering.images() if with_images else ()
    return rendering.template([*images, *values], kube_version, flags=flags)


def refusal(values):
    """Returns why Helm refuses `values`, an object as in a file of values, or "" if it accepts them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "values.json"
        file.write_text(json.dumps(values), encoding="utf-8")
        words = [rendering.helm(), "template", "crossover", str(CHART), "--values", str(file)]
        for value in rendering.images():
            words += ["--set", value]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def objects(*values, kube_version=None):
    return [item for item in yaml.safe_load_all(render(*values, kube_version=kube_version)) if item]


def find(items, kind, name):
    """Returns the one object of that kind and name. Raises KeyError if there is none."""
    for item in items:
        if item["kind"] == kind and item["metadata"]["name"] == name:
            return item
    raise KeyError(f"no {kind} {name}")


def pod_templates(items):
    """Returns {name: pod spec} of all objects that make pods."""
    found = {}
    for item in items:
        if item["kind"] in ("DaemonSet", "Deployment", "Job"):
            found[item["metadata"]["name"]] = item["spec"]["template"]["spec"]
        if item["kind"] == "Pod":
            found[item["metadata"]["name"]] = item["spec"]
    return found


def promtool():
    unpacked = versions.cache() / "cluster-debian-12/usr/bin"
    found = shutil.which("promtool", path=f"{unpacked}:{os.environ.get('PATH', '')}")
    if not found:
        raise FileNotFoundError("promtool is missing: tools/install.sh --cluster")
    return found


def metrics():
    """Returns the names of all metrics that the programs have, as their sources name them."""
    names = set()
    for folder in ("deviceplugin", "extender", "common"):
        for file in (TREE / folder).rglob("*.[ch]*"):
            names.update(re.findall(r'"(crossover_[a-z0-9_]+)"', file.read_text(encoding="utf-8")))
    return names
