"""Tests what the tokens of a node's daemon and of the extender permit by manifests/rbac, what they do not permit, and
what JobProfiles may contain.
"""

import json
import time
import unittest

from testing.chart import objects
from testing.cluster.node_daemon import NAMESPACE, apply_manifests, token_of
from testing.cluster.pods import restricted
from testing.cluster.rig import Cluster
from testing.processes import Failed
from tests.process.demo.leftovers import until

_TEAM = "team"
_PATIENCE_S = 30.0
_GATES = ("crossover.dev/gang", "other.dev/gate")
_APPLY = ["apply", "--server-side", "--force-conflicts", "--field-manager", "crossover-deviceplugin", "--filename", "-"]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_THERE = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
_FIGURES = {"computeSeconds": 0.02, "exposedSeconds": 0.01}


def gpu_node(name):
    return {"apiVersion": "crossover.dev/v1alpha1", "kind": "GPUNode", "metadata": {"name": name},
            "status": {"mode": "enforce"}}


def profile(name, **spec):
    return {"apiVersion": "crossover.dev/v1alpha1", "kind": "JobProfile",
            "metadata": {"name": name, "namespace": _TEAM}, "spec": spec}


def of_nodes(key, terms):
    return {"spec": {"affinity": {"nodeAffinity": {key: terms}}}}


def gated(name):
    """Returns a pod that is never started, so its images do not matter."""
    pod = restricted(name, "ours", ["sleep"], schedulingGates=[{"name": gate} for gate in _GATES])
    pod["metadata"] |= {"namespace": _TEAM, "labels": {"app": name},
                        "annotations": {"crossover.dev/share": "true"}}
    pod["spec"]["initContainers"] = [pod["spec"]["containers"][0] | {"name": "before"}]
    return pod


class Doors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.namespace(_TEAM)
        cls.cluster.namespace(NAMESPACE, enforce="privileged")
        apply_manifests(cls.cluster)
        cls.node, cls.other = cls.cluster.nodes
        cls.await_policy()

    @classmethod
    def await_policy(cls, in_force=True):
        """Blocks until the policy is in force, or gone. The API server applies policies some time after they are made
        or removed."""
        token = token_of(cls.cluster, cls.node)
        for _ in range(200):
            done = cls.as_token(token, [*_APPLY, "--dry-run=server"], gpu_node(cls.other.name))
            if (done.returncode != 0) == in_force:
                return
        raise Failed(f"the policy of GPUNodes is not {'in force' if in_force else 'gone'}: {done.stderr}")

    @classmethod
    def as_token(cls, token, words, thing=None):
        """Runs kubectl with a token and nothing else: the administrator's certificate would take precedence."""
        return cls.cluster.kubectl("--kubeconfig", "/dev/null", "--server", cls.cluster.server,
                                   "--certificate-authority", str(cls.cluster.setup.certificates.authority),
                                   "--token", token, *words, input=None if thing is None else json.dumps(thing),
                                   check=False)

    def refused(self, token, words, thing=None):
        """Asserts that kubectl fails, and returns its error output."""
        done = self.as_token(token, words, thing)
        self.assertNotEqual(done.returncode, 0, f"{words}: {done.stdout}")
        return done.stderr

    def test_it_writes_its_own_gpu_node_and_no_other(self):
        token = token_of(self.cluster, self.node)
        done = self.as_token(token, _APPLY, gpu_node(self.node.name))
        self.assertEqual(done.returncode, 0, done.stderr)
        said = self.refused(token, _APPLY, gpu_node(self.other.name))
        self.assertIn(f"the daemon of node {self.node.name} may not write the GPUNode {self.other.name}", said)
        self.assertIsNone(self.cluster.get("gpunode", self.other.name))
        self.cluster.apply(gpu_node(self.other.name))
        said = self.refused(token, _APPLY, gpu_node(self.other.name) | {"status": {"mode": "off"}})
        self.assertIn("may not write", said, "one that is there")

    def test_without_the_policy_it_would_write_any(self):
        self.cluster.kubectl("delete", "validatingadmissionpolicybinding", "crossover-own-gpunode")
        self.await_policy(in_force=False)
        apply_manifests(self.cluster)
        self.await_policy()

    def test_it_marks_its_own_node_and_changes_no_more_of_it(self):
        token = token_of(self.cluster, self.node)

        def patch(node, **body):
            return self.as_token(token, ["patch", "node", node, "--type", "merge", "--dry-run=server", "--patch",
                                         json.dumps(body)])
        marks = {"labels": {"nvidia.com/gpu.deploy.device-plugin": "false",
                            "nvidia.com/gpu.deploy.operator-validator": "false"},
                 "annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
        # kubectl reads a node before it patches it, and the daemon does not.
        self.cluster.kubectl("create", "clusterrole", "patches-nodes", "--verb=get,patch", "--resource=nodes")
        self.cluster.kubectl("create", "clusterrolebinding", "patches-nodes", "--clusterrole=patches-nodes",
                             f"--serviceaccount={NAMESPACE}:crossover-deviceplugin")
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrolebinding", "patches-nodes")
        end = time.monotonic() + 60.0
        while patch(self.other.name, metadata={"labels": {"a": "b"}}).returncode != 0:  # the control
            self.assertLess(time.monotonic(), end, "without the policy it may write any node")
        for thing in objects("deviceplugin.config.node.gpu_operator=labels"):
            if thing["metadata"]["name"] == "crossover-own-node":
                self.cluster.apply(thing)
        while patch(self.other.name, metadata={"labels": {"a": "b"}}).returncode == 0:
            self.assertLess(time.monotonic(), end, "the policy is not in force")
        done = patch(self.node.name, metadata=marks)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("may not write the Node", patch(self.other.name, metadata=marks).stderr)
        for body in ({"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {"a": "b"}}},
                     {"metadata": {"labels": {"kubernetes.io/hostname": None}}},
                     {"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": "true"}}},
                     {"spec": {"unschedulable": True}}):
            self.assertIn("a node daemon may", patch(self.node.name, **body).stderr, body)

    def test_a_token_that_is_bound_to_no_node_writes_none(self):
        token = self.cluster.kubectl("create", "token", "crossover-deviceplugin", "--namespace", NAMESPACE).strip()
        self.assertIn("bound to no node", self.refused(token, _APPLY, gpu_node(self.node.name)))

    def test_nothing_else_is_open(self):
        token = token_of(self.cluster, self.node)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": _TEAM},
               "spec": {"containers": [{"name": "c", "image": "x"}]}}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "namespace": _TEAM},
                   "target": {"kind": "Node", "name": self.node.name}}
        bind = ["create", "--raw", f"/api/v1/namespaces/{_TEAM}/pods/p/binding", "--filename", "-"]
        create = ["create", "--filename", "-"]
        for words, thing in ((create, pod), (bind, binding), (create, profile("p")),
                             (["patch", "node", self.node.name, "--patch", '{"metadata":{"labels":{"a":"b"}}}'], None),
                             (["delete", "gpunode", self.node.name], None), (["get", "secrets", "-A"], None),
                             (["delete", "pod", "p", "--namespace", _TEAM], None)):
            said = self.refused(token, words, thing)
            self.assertIn("forbidden", said.lower(), words)
        done = self.as_token(token, ["get", "pods", "-A"])
        self.assertEqual(done.returncode, 0, f"the token is good for what it is for: {done.stderr}")

    def test_the_extender_changes_no_more_of_a_pod_than_it_has_to(self):
        self.cluster.apply(gated("gated"))
        token = self.cluster.kubectl("create", "token", "crossover-extender", "--namespace", NAMESPACE).strip()
        api, path = self.cluster.api(token), f"/api/v1/namespaces/{_TEAM}/pods/gated"
        self.addCleanup(api.close)
        there = api.get(path)["spec"]

        def refusal(changes, subresource=""):
            """Returns what the API server says, or "" if it accepts the change."""
            try:
                api.merge(path + subresource, changes)
                return ""
            except Failed as failure:
                return str(failure)

        def of_another_image(containers, image="theirs"):
            return {"spec": {containers: [there[containers][0] | {"image": image}]}}

        def heeded(binding):
            """Tells whether the policy takes effect, or stops taking effect, some time after its binding was made or
            removed."""
            return until(lambda: bool(refusal(of_another_image("containers", f"at-{time.monotonic()}"))) == binding,
                         _PATIENCE_S)
        self.assertTrue(heeded(True))
        more = [*there["tolerations"], {"operator": "Exists"}]
        for where, changes, subresource in (
                ("spec.containers", of_another_image("containers"), ""),
                ("spec.initContainers", of_another_image("initContainers"), ""),
                ("spec.tolerations", {"spec": {"tolerations": more}}, ""),
                ("spec.nodeSelector", {"spec": {"nodeSelector": {"a": "b"}}}, ""),
                ("spec.affinity", of_nodes(_REQUIRED, {"nodeSelectorTerms": [_THERE]}), ""),
                ("spec.activeDeadlineSeconds", {"spec": {"activeDeadlineSeconds": 1}}, ""),
                ("metadata.finalizers", {"metadata": {"finalizers": ["a.dev/b"]}}, ""),
                ("status.podIPs", {"status": {"podIPs": [{"ip": "10.0.0.1"}], "podIP": "10.0.0.1"}}, "/status"),
                ("status.phase", {"status": {"phase": "Failed"}}, "/status")):
            with self.subTest(where):
                self.assertIn(f"{where}: system:serviceaccount:{NAMESPACE}:crossover-extender may not change it",
                              refusal(changes, subresource))
        for changes, subresource in (
                ({"metadata": {"annotations": {"crossover.dev/reservation": "{}"}}}, ""),
                ({"metadata": {"annotations": {"other.dev/note": "b"}, "labels": {"added": "by-a-webhook"}}}, ""),
                ({"status": {"nominatedNodeName": self.node.name}}, "/status"),
                ({"status": {"conditions": [{"type": "PodScheduled", "status": "False"}]}}, "/status"),
                (of_nodes(_PREFERRED, [{"weight": 1, "preference": _THERE}]), ""),
                ({"spec": {"schedulingGates": [{"name": _GATES[1]}]}}, "")):
            self.assertEqual(refusal(changes, subresource), "", changes)
        self.assertEqual(api.get(path)["spec"]["schedulingGates"], [{"name": _GATES[1]}])
        self.cluster.kubectl("delete", "validatingadmissionpolicybinding", "crossover-extender-pods")
        self.assertTrue(heeded(False))
        self.assertEqual(refusal(of_another_image("containers")), "", "the control: without the policy")

    def dry_run(self, thing):
        """Sends an object as a dry run and returns the finished kubectl. Every unknown field is an error."""
        return self.cluster.kubectl("create", "--dry-run=server", "--validate=strict", "--filename", "-",
                                    input=json.dumps(thing), check=False)

    def test_hints_of_users(self):
        for good in (profile("a"), profile("b", key="Any key/at all", **_FIGURES, peakMemoryBytes=1 << 34)):
            done = self.dry_run(good)
            self.assertEqual(done.returncode, 0, done.stderr)
        for bad, why in ((profile("a", computeSeconds=0.02), "computeSeconds and exposedSeconds go together"),
                         (profile("a", computeSeconds=-1, exposedSeconds=0), "spec.computeSeconds"),
                         (profile("a", **(_FIGURES | {"exposedSeconds": 4000})), "spec.exposedSeconds"),
                         (profile("a", peakMemoryBytes="20Gi"), "spec.peakMemoryBytes"),
                         (profile("a", key=""), "spec.key"),
                         (profile("a", computeSecond=1), 'unknown field "spec.computeSecond"')):
            done = self.dry_run(bad)
            self.assertNotEqual(done.returncode, 0, bad)
            self.assertIn(why, done.stderr)

    def test_the_key_of_a_profile_stays(self):
        self.cluster.apply(profile("kept", key="one"))
        with self.assertRaisesRegex(Failed, "the key of a profile stays what it is"):
            self.cluster.apply(profile("kept", key="two"))

    def test_a_user_does_not_write_what_was_measured(self):
        self.cluster.apply(profile("measured") | {"status": _FIGURES})
        self.assertNotIn("status", self.cluster.get("jobprofile", "measured", _TEAM))


if __name__ == "__main__":
    unittest.main()
