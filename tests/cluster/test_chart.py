"""What the chart makes, before a real API server: it knows every field, and accounts may do what they are for."""

import json
import unittest

import yaml

from tests.charts.chart import INSTALLATIONS, MONITORING, find, objects, pod_templates
from tests.cluster.rig import Cluster
from tools.render_manifests import MANIFESTS

_NAMESPACE, _RESTRICTED = "crossover-system", "restricted"
# Of other projects: the rig has no definitions of them, so that nobody looks at their fields here.
_FOREIGN = ("monitoring.coreos.com", "cert-manager.io")
_ACCOUNT = f"system:serviceaccount:{_NAMESPACE}:"


class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=1)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.namespace(_NAMESPACE, enforce="privileged")
        cls.cluster.namespace(_RESTRICTED)
        cls.version = cls.cluster.setup.programs.kube_version

    def dry_run(self, items, *words):
        return self.cluster.kubectl("create", "--dry-run=server", "--validate=strict", "--filename", "-", *words,
                                    input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), check=False)

    def test_the_api_server_takes_every_object(self):
        for name, values in INSTALLATIONS.items():
            items = [item for item in objects(*values, kube_version=self.version)
                     if not item["apiVersion"].startswith(_FOREIGN)]
            done = self.dry_run(items)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
            self.assertEqual(len(done.stdout.splitlines()), len(items))

    def test_a_field_that_is_mistyped_is_found(self):
        """The control."""
        items = objects(kube_version=self.version)
        find(items, "DaemonSet", "crossover-deviceplugin")["spec"]["template"]["spec"]["hostPid"] = True
        done = self.dry_run(items)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, 'unknown field "[a-z.]*hostPid"')

    def test_manifests_are_taken_as_a_whole(self):
        done = self.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "--kustomize",
                                    str(MANIFESTS), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_levels_of_pod_security(self):
        """All but the node agents pass `restricted`; theirs are the exceptions that their files explain, no others."""
        refused = {}
        for name, spec in pod_templates(objects("mps.enabled=true", *MONITORING, kube_version=self.version)).items():
            for key in ("serviceAccountName", "priorityClassName"):  # they are not there
                spec.pop(key, None)
            metadata = {"name": name, "namespace": _RESTRICTED}
            done = self.dry_run([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}])
            if done.returncode != 0:
                refused[name] = done.stderr
        self.assertEqual(set(refused), {"crossover-deviceplugin", "crossover-mps"})
        daemon = refused["crossover-deviceplugin"]
        for words in ("hostPID=true", "hostPath", "privileged", "runAsUser=0"):
            self.assertIn(words, daemon)
        for words in ("hostNetwork", "hostIPC", "hostPort"):
            self.assertNotIn(words, daemon)

    def test_pods_of_the_examples_pass_the_level_restricted(self):
        spec = None
        for file in sorted((MANIFESTS / "examples").glob("*.yaml")):
            for spec in _pod_specs(list(yaml.safe_load_all(file.read_text(encoding="utf-8")))):
                spec.setdefault("restartPolicy", "Never")  # Kubeflow's operators set it
                metadata = {"name": "train-0", "namespace": _RESTRICTED}
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
                done = self.dry_run([pod])
                self.assertEqual(done.returncode, 0, f"{file.name}: {done.stderr}")
        spec["hostPID"] = True
        self.assertNotEqual(self.dry_run([pod]).returncode, 0, "the control")

    def test_the_example_without_an_operator_is_taken_as_a_whole(self):
        done = self.cluster.kubectl("create", "--namespace", _RESTRICTED, "--dry-run=server", "--validate=strict",
                                    "--filename", str(MANIFESTS / "examples/indexed-job.yaml"), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def may(self, account, verb, thing, *words):
        return self.cluster.kubectl("auth", "can-i", verb, thing, "--as", _ACCOUNT + account, *words,
                                    check=False).stdout.strip() == "yes"

    def test_what_accounts_may(self):
        for part in ("crds", "rbac"):
            self.cluster.kubectl("apply", "--server-side", "--filename", str(MANIFESTS / part))
        here = ("--namespace", _NAMESPACE)
        for account, allowed, forbidden in (
                ("crossover-extender",
                 (("patch", "pods", "-A"), ("create", "pods", "--subresource", "binding", "-A"),
                  ("list", "gpunodes.crossover.dev"),
                  ("update", "leases/crossover-scheduler", *here), ("get", "secrets/crossover-admission", *here),
                  ("patch", "mutatingwebhookconfigurations/crossover-admission")),
                 (("create", "pods", "-A"), ("get", "secrets", "-A"), ("get", "secrets/other", *here),
                  ("patch", "gpunodes.crossover.dev"), ("update", "leases/other", *here), ("patch", "nodes"),
                  ("patch", "mutatingwebhookconfigurations/other"), ("escalate", "clusterroles"),
                  ("get", "configmaps", *here))),
                ("crossover-deviceplugin",
                 (("list", "pods", "-A"), ("patch", "gpunodes.crossover.dev"),
                  ("create", "pods", "--subresource", "eviction", "-A")),
                 (("patch", "pods", "-A"), ("delete", "pods", "-A"), ("patch", "nodes"), ("get", "secrets", *here)))):
            for words in allowed:
                self.assertTrue(self.may(account, *words), f"{account}: {words}")
            for words in forbidden:
                self.assertFalse(self.may(account, *words), f"{account}: {words}")


def _pod_specs(value):
    """Of all pod templates somewhere in a value."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _pod_specs(inner)


if __name__ == "__main__":
    unittest.main()
