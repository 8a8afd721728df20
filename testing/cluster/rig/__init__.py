"""Starts a real Kubernetes for tests, two nodes on one machine, in seconds: see tests/cluster/README.md.

    with Cluster() as cluster:
        cluster.namespace("shop")
        cluster.image_of("crossover.test/tool:1", {"/bin/tool": "build/dev/bin/tool"}, ["/bin/tool"])
        cluster.apply(pod)
        cluster.wait_for("pod", "first", phase("Succeeded"), "shop")
"""

from testing.cluster.rig.cluster import Cluster
from testing.cluster.rig.kubectl import gone, phase, true
from testing.cluster.rig.versions import Refused

__all__ = ["Cluster", "Refused", "gone", "phase", "true"]
