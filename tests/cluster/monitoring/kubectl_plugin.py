"""Runs `kubectl crossover` as a user of a test cluster does."""

import json
import os
import subprocess
from pathlib import Path

from testing.processes import dying_with_parent


def kubectl(cluster, build, *words, user="admin", path=None):
    """Runs kubectl with a Build's plugin on its PATH, and the folder `path` behind it. Returns the finished process."""
    setup = cluster.setup
    programs = [build.cli.parent, Path(setup.programs.path("kubectl")).parent, *([path] if path else [])]
    environment = {**os.environ, "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
                   "KUBECONFIG": str(setup.kubeconfig(user)), "KUBECACHEDIR": str(setup.directory / "kubectl-cache")}
    return subprocess.run(dying_with_parent(cluster.enter(["kubectl", *words], ("net",))), env=environment,
                          capture_output=True, text=True, timeout=120, check=False)


def findings(cluster, build, user="admin"):
    """Returns the doctor's findings in a cluster as {check: {"verdict": .., "seen": ..}}. Raises AssertionError where
    the doctor cannot look."""
    done = kubectl(cluster, build, "crossover", "doctor", "-o", "json", user=user)
    try:
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    except json.JSONDecodeError:
        raise AssertionError(f"kubectl crossover doctor: {done.returncode} {done.stdout} {done.stderr}") from None
