"""Asks `kubectl crossover advise` for its advice on objects that a caller makes. A script in place of kubectl lists
them, so no cluster runs; all else is the shipped program."""

import datetime
import json
import os
import subprocess
import tempfile
from pathlib import Path

from testing.processes import Failed

_NAMESPACE = "bench"
_KUBECTL = """#!/bin/sh
for word in "$@"; do
  case $word in
    jobprofiles.*) exec cat '{folder}/profiles.json' ;;
    gpunodes.*) exec cat '{folder}/nodes.json' ;;
  esac
done
exit 1
"""


def profile(gang, gpus, nodes, compute_ms, exposed_ms, link_bytes, uplink_s=None):
    """Returns the JobProfile of a job that ran alone for the last hour. `uplink_s` has the times of the busiest uplink
    of a node, as the pods were placed and at best; None: not known."""
    now = datetime.datetime.now(datetime.timezone.utc)
    run = {"gang": gang, "beganAt": _stamp(now - datetime.timedelta(hours=1)), "lastSeen": _stamp(now), "gpus": gpus,
           "nodes": nodes, "computeSeconds": compute_ms / 1e3, "exposedSeconds": exposed_ms / 1e3, "shared": False}
    if uplink_s:
        run["uplinkSeconds"], run["leastUplinkSeconds"] = uplink_s
    return {"metadata": {"name": gang, "namespace": _NAMESPACE}, "spec": {"key": gang},
            "status": {"runs": [run], "linkBytes": round(link_bytes)}}


def gpu_node(link_bytes_per_s=0, jobs=()):
    return {"metadata": {"name": "node"}, "status": {"linkBytesPerSecond": round(link_bytes_per_s),
                                                     "jobs": list(jobs)}}


def running(gang, computes_ms, step_ms):
    """Returns what GPUNode tells of a job that runs, all of whose ranks are on one node."""
    mean_ms = sum(computes_ms) / len(computes_ms)
    return {"namespace": _NAMESPACE, "gang": gang, "gangSize": len(computes_ms), "computeSeconds": mean_ms / 1e3,
            "exposedSeconds": (step_ms - mean_ms) / 1e3,
            "measuredAt": _stamp(datetime.datetime.now(datetime.timezone.utc)),
            "ranks": [{"pod": f"{gang}-{rank}", "rank": rank, "computeSeconds": compute_ms / 1e3, "waitSeconds": 0}
                      for rank, compute_ms in enumerate(computes_ms)]}


def advise(build, profiles, nodes):
    """Returns the program's answer as JSON. Raises Failed where it ends with an error."""
    with tempfile.TemporaryDirectory(prefix="crossover-advise-") as folder:
        for name, objects in (("profiles", profiles), ("nodes", nodes)):
            (Path(folder) / f"{name}.json").write_text(json.dumps({"items": list(objects)}), encoding="utf-8")
        kubectl = Path(folder) / "kubectl"
        kubectl.write_text(_KUBECTL.format(folder=folder), encoding="ascii")
        kubectl.chmod(0o755)
        done = subprocess.run([build.program("kubectl-crossover"), "advise", "--output", "json"], capture_output=True,
                              text=True, check=False, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    if done.returncode != 0:
        raise Failed(f"kubectl crossover advise: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _stamp(when):
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
