"""kubectl crossover, as a user of a test cluster calls it."""

import json
import os
import subprocess
from pathlib import Path

from benchmarks.processes import dying_with_parent


def kubectl(cluster, build, *words, user="admin", path=None):
    """kubectl with the plugin of a build (Build) on its PATH, and folders of `path` behind it; the finished process."""
    setup = cluster.setup
    programs = [build.cli.parent, Path(setup.programs.path("kubectl")).parent, *([path] if path else [])]
    environment = {**os.environ, "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
                   "KUBECONFIG": str(setup.kubeconfig(user)), "KUBECACHEDIR": str(setup.directory / "kubectl-cache")}
    return subprocess.run(dying_with_parent(cluster.enter(["kubectl", *words], ("net",))), env=environment,
                          capture_output=True, text=True, timeout=120, check=False)


def findings(cluster, build, user="admin"):
    """What the doctor finds of a cluster: {check: {"verdict": .., "seen": ..}}. AssertionError where it cannot look."""
    done = kubectl(cluster, build, "crossover", "doctor", "-o", "json", user=user)
    try:
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    except json.JSONDecodeError:
        raise AssertionError(f"kubectl crossover doctor: {done.returncode} {done.stdout} {done.stderr}") from None
