"""Renders charts/crossover by Helm. Helm is the one of tools/install.sh --cluster, or else the one in PATH."""

import os
import shutil
import subprocess

from testing.cluster.rig import versions

TREE = versions.TREE
CHART = TREE / "charts/crossover"
NAMESPACE = "crossover-system"
REGISTRY = "registry.example"  # no real registry: kustomization.yaml says what to do about it


def helm():
    """Returns the path of the helm program. Raises FileNotFoundError if there is none."""
    installed = versions.cache() / f"helm-{versions.default('helm')}"
    found = shutil.which("helm", path=f"{installed}:{os.environ.get('PATH', '')}")
    if not found:
        raise FileNotFoundError("helm is missing: tools/install.sh --cluster")
    return found


def template(values=(), kube_version=None, chart=CHART, flags=()):
    """Runs `helm template`, with `flags`, and returns the finished process. `values` are KEY=VALUE, as for --set."""
    words = [helm(), "template", "crossover", str(chart), "--namespace", NAMESPACE]
    words += ["--kube-version", kube_version or versions.default("kube"), *flags]
    for value in values:
        words += ["--set", value]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def images(registry=REGISTRY):
    return [f"{name}.image.repository={registry}/crossover-{name}" for name in ("deviceplugin", "extender")]
