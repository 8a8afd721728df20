"""Writes manifests/: what charts/crossover renders with its defaults, for users who install without Helm, and for the
tests. Its examples/ are written by hand.

    python3 -m tools.render_manifests           write it anew
    python3 -m tools.render_manifests --check   change nothing: exit 1 and name the files that differ

The objects are written in the chart. testing/rendering.py says which Helm renders them.
"""

import argparse
import re
import sys

from testing.cluster.rig import versions
from testing.rendering import CHART, NAMESPACE, REGISTRY, TREE, images, template

MANIFESTS = TREE / "manifests"
_SOURCE = re.compile(r"^# Source: crossover/templates/(.+)\n", re.MULTILINE)
_HELMS_OWN = re.compile(r"^ *(app\.kubernetes\.io/managed-by: |helm\.sh/|annotations: \{helm\.sh/).*\n", re.MULTILINE)
_WRITTEN = "# Rendered from charts/crossover/templates/{}\n# by python3 -m tools.render_manifests: change it there.\n"
_EXAMPLES = "examples"  # this folder is not rendered
_FOLDERS = "namespace.yaml crds rbac webhook deviceplugin control network".split()
_NAMESPACE_TEXT = f"""# The node daemon needs what the level privileged allows: deviceplugin/daemonset.yaml says why.
apiVersion: v1
kind: Namespace
metadata:
  name: {NAMESPACE}
  labels: {{pod-security.kubernetes.io/enforce: privileged}}
"""
_KUSTOMIZATION = """# kubectl apply --server-side --kustomize manifests: all of it. Name your images first, and the
# scheduler of your cluster's version.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
{resources}
images:
  - {{name: {registry}/crossover-deviceplugin, newName: {registry}/crossover-deviceplugin, newTag: {version}}}
  - {{name: {registry}/crossover-extender, newName: {registry}/crossover-extender, newTag: {version}}}
  - {{name: registry.k8s.io/kube-scheduler, newTag: v{kubernetes}}}
"""


def _documents(text):
    """Yields (path of its template, document) for each document, in Helm's order."""
    for document in re.split(r"^---\n", text, flags=re.MULTILINE):
        source = _SOURCE.search(document)
        if source:
            yield source.group(1), _SOURCE.sub("", document).strip("\n") + "\n"


def render():
    """Returns {path below manifests/: text}. Raises RuntimeError if Helm fails."""
    done = template(images())
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    files = {}
    for path, document in _documents(done.stdout):
        if not path.startswith("hooks/"):
            files.setdefault(path, []).append(_HELMS_OWN.sub("", document))
    texts = {path: _WRITTEN.format(path) + "---\n".join(documents) for path, documents in files.items()}
    texts["namespace.yaml"] = _NAMESPACE_TEXT
    order = sorted(texts, key=lambda path: (_FOLDERS.index(path.split("/")[0]), path))
    texts["kustomization.yaml"] = _KUSTOMIZATION.format(
        resources="\n".join(f"  - {path}" for path in order), registry=REGISTRY, version=chart_version(),
        kubernetes=versions.default("kube"))
    return texts


def chart_version():
    return re.search(r"^appVersion: (\S+)$", (CHART / "Chart.yaml").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def differences(texts, folder=MANIFESTS):
    """Returns the paths of files that differ from `texts`, or are missing, or are too many."""
    there = {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in folder.rglob("*.yaml")
             if folder / _EXAMPLES not in file.parents}
    return sorted(path for path in there.keys() | texts.keys() if there.get(path) != texts.get(path))


def main():
    parser = argparse.ArgumentParser(description="Renders manifests/ from charts/crossover.")
    parser.add_argument("--check", action="store_true", help="change nothing: exit 1 and name the files that differ")
    check = parser.parse_args().check
    texts = render()
    differ = differences(texts)
    for path in differ:
        print(f"manifests/{path} {'differs from the chart: python3 -m tools.render_manifests' if check else 'written'}")
        if check:
            continue
        file = MANIFESTS / path
        if path not in texts:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts[path], encoding="utf-8")
    return 1 if check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
