"""Tests what the chart renders against a real API server: the server knows every field, and accounts have the rights
they need and no others."""

import json
import time
import unittest
from collections import Counter

import yaml

from testing.chart import INSTALLATIONS, MONITORING, find, objects, pod_templates, render
from testing.cluster.rig import Cluster, true
from testing.cluster.rig.versions import definitions
from tests.cluster.release import schemas
from tools.render_manifests import MANIFESTS

_NAMESPACE, _RESTRICTED = "crossover-system", "restricted"
_KINDS_OF_OTHERS = {"PodMonitor", "PrometheusRule", "Certificate", "Issuer"}
_TOLD_WITHIN_S = 60.0
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
        cls.define_kinds_of_others()

    @classmethod
    def define_kinds_of_others(cls):
        """Creates the custom kinds of Prometheus' operator and of cert-manager. Their controllers do not run here."""
        cls.cluster.kubectl("apply", "--server-side", "--filename", str(definitions()))
        for item in cls.cluster.get("customresourcedefinitions"):
            cls.cluster.wait_for("customresourcedefinition", item["metadata"]["name"], true("Established"))

    def dry_run(self, items):
        return self.dry_run_of(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def dry_run_of(self, text):
        return self.cluster.kubectl("create", "--dry-run=server", "--validate=strict", "--filename", "-", input=text,
                                    check=False)

    def test_the_api_server_takes_every_object(self):
        for name, values in INSTALLATIONS.items():
            items = objects(*values, kube_version=self.version)
            done = self.dry_run_of(render(*values, kube_version=self.version))
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
            self.assertEqual(len(done.stdout.splitlines()), len(items))

    def test_a_field_that_is_mistyped_is_found(self):
        """This is the control."""
        items = objects(kube_version=self.version)
        find(items, "DaemonSet", "crossover-deviceplugin")["spec"]["template"]["spec"]["hostPid"] = True
        done = self.dry_run(items)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, 'unknown field "[a-z.]*hostPid"')

    def test_schemas_hold(self):
        """kubeconform reads Helm's own text. It also finds keys that are written twice, which the API server never
        sees."""
        program, folder = self.cluster.setup.programs.path("kubeconform"), self.cluster.directory / "schemas"
        folder.mkdir()
        schemas.write(self.openapi(), folder)
        for name, values in INSTALLATIONS.items():
            items = objects(*values, kube_version=self.version)
            done = schemas.kubeconform(program, folder, render(*values, kube_version=self.version))
            self.assertEqual(done.returncode, 0, f"{name}: {done.stdout} {done.stderr}")
            found = Counter(resource["status"] for resource in json.loads(done.stdout)["resources"])
            self.assertEqual(found, {"statusValid": len(items)}, name)
        text = render(*MONITORING, kube_version=self.version)
        for right, wrong in (("honorLabels: true", "honourLabels: true"), ("hostPID: true", "hostPid: true"),
                             ("hostPID: true", "hostPID: true\n      hostPID: true")):
            self.assertIn(right, text)
            done = schemas.kubeconform(program, folder, text.replace(right, wrong, 1))
            self.assertNotEqual(done.returncode, 0, f"the control: {wrong}")
            self.assertIn(wrong.split(":", maxsplit=1)[0], done.stdout)

    def openapi(self):
        """Returns the API server's OpenAPI document once it has the custom kinds. The server has no event for that."""
        end = time.monotonic() + _TOLD_WITHIN_S
        while True:
            document = json.loads(self.cluster.kubectl("get", "--raw", "/openapi/v2"))
            missing = _KINDS_OF_OTHERS - {kind["kind"] for definition in document["definitions"].values()
                                          for kind in definition.get("x-kubernetes-group-version-kind", ())}
            if not missing:
                return document
            self.assertLess(time.monotonic(), end, f"the API server tells of no {', '.join(sorted(missing))}")
            time.sleep(0.2)

    def test_manifests_are_taken_as_a_whole(self):
        done = self.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "--kustomize",
                                    str(MANIFESTS), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_levels_of_pod_security(self):
        """All pods but the node agents pass `restricted`. The agents' exceptions are those that their files explain,
        and no others."""
        refused = {}
        values = ("mps.enabled=true", "signaller.enabled=true", "deviceplugin.config.transport=ipc", *MONITORING)
        for name, spec in pod_templates(objects(*values, kube_version=self.version)).items():
            for key in ("serviceAccountName", "priorityClassName"):  # these objects do not exist here
                spec.pop(key, None)
            metadata = {"name": name, "namespace": _RESTRICTED}
            done = self.dry_run([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}])
            if done.returncode != 0:
                refused[name] = done.stderr
        self.assertEqual(set(refused), {"crossover-deviceplugin", "crossover-mps", "crossover-signaller"})
        daemon = refused["crossover-deviceplugin"]
        for words in ("hostPID=true", "hostPath", "privileged", "runAsUser=0"):
            self.assertIn(words, daemon)
        for words in ("hostNetwork", "hostIPC", "hostPort"):
            self.assertNotIn(words, daemon)
        for words in ("hostPID", "privileged", "capabilities", "allowPrivilegeEscalation"):
            self.assertNotIn(words, refused["crossover-signaller"])

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
    """Yields the pod specs of all pod templates somewhere in a value."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _pod_specs(inner)


if __name__ == "__main__":
    unittest.main()
