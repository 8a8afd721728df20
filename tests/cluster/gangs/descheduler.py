"""Runs the real Descheduler (tools/install/operators.sh) on a test cluster, with the account and the role of its
makers' manifests. It makes one pass at a time: it ends when it has looked at all pods once.
"""

import json
import subprocess

import yaml

from testing.cluster import operators
from testing.cluster.rig import Refused
from testing.processes import Failed, dying_with_parent

_NAME = "descheduler"
_NAMESPACE, _ACCOUNT = "kube-system", "descheduler-sa"
_WITHIN_S = 120.0


def policy(plugin, point, args, evictor, nodes):
    """Returns a DeschedulerPolicy of one plugin, at its extension point ("balance" or "deschedule"). `evictor` has the
    arguments of DefaultEvictor. Only nodes that the label selector `nodes` selects are looked at."""
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "nodeSelector": nodes,
            "profiles": [{"name": "tried",
                          "pluginConfig": [{"name": "DefaultEvictor", "args": evictor},
                                           {"name": plugin, "args": args}],
                          "plugins": {point: {"enabled": [plugin]}}}]}


class Descheduler:
    """A Descheduler is installed once on a cluster. Raises Refused where the program was not built."""

    def __init__(self, cluster):
        if operators.missing(_NAME):
            raise Refused(operators.missing(_NAME))
        self._cluster = cluster
        self._program = operators.program(_NAME)
        text = (self._program.parent / "manifests.yaml").read_text(encoding="utf-8")
        # Its Deployment and its policy are left out, since each pass has a policy of its own.
        cluster.apply([thing for thing in yaml.load_all(text, yaml.CSafeLoader)
                       if thing["kind"] not in ("Deployment", "ConfigMap")])
        self._kubeconfig = cluster.kubeconfig_of_account(_ACCOUNT, _NAMESPACE)

    @property
    def version(self):
        return operators.version(_NAME)

    def look(self, its_policy):
        """Makes one pass with a policy and returns the log. Raises Failed where the program fails."""
        file = self._cluster.directory / "descheduler-policy.json"
        file.write_text(json.dumps(its_policy), encoding="utf-8")
        command = [str(self._program), "--kubeconfig", str(self._kubeconfig), "--policy-config-file", str(file),
                   "--secure-port", "0", "--v", "4"]
        done = subprocess.run(dying_with_parent(self._cluster.enter(command)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_WITHIN_S,
                              check=False)
        if done.returncode != 0:
            raise Failed(f"the Descheduler ended with {done.returncode}: {done.stdout[-1500:]}")
        return done.stdout
