"""Tests what a user who may edit one namespace can reach from a pod: every port of Crossover's pods, every verb of the
API server on Crossover's objects, and what is mounted into a pod that shares.
"""

import itertools
import json
import os
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster.pods import restricted, with_slots
from testing.cluster.prometheus import judged, reading_token
from testing.cluster.release import NAMESPACE, Release
from testing.cluster.rig import Cluster, phase
from testing.cluster.software_gpus import SoftwareGpus
from testing.commands import Build
from tests.cluster.security import inside

_TEAM, _OTHER = "team", "other"
_SHELL = "crossover.test/shell:1"
_SLEEP = ["/bin/sleep", "100000"]
_WEBHOOK, _HEALTH, _METRICS, _SCHEDULER, _VERBS, _DAEMON = 8443, 8481, 8482, 10259, 8480, 9465
# {component: (ports reachable by others, ports on loopback alone)}
_PORTS = {"extender": ({_WEBHOOK, _HEALTH, _METRICS, _SCHEDULER}, {_VERBS}), "deviceplugin": ({_DAEMON}, set()),
          "mps": (set(), set())}
_NOT_FOR_THEM = {401, 403}
_MADE_UP = ("made-up", "made up", "\xff\xfe")  # tokens; the last is no text
_READ, _WRITE = ("get", "list", "watch"), ("create", "update", "patch", "delete", "deletecollection")
_PROFILES = "jobprofiles.crossover.dev"
# These are Crossover's objects and the ways to them, by namespace: its own, another user's, the visitor's, and none.
_OURS = {
    NAMESPACE: ("secrets", "configmaps", "leases", "pods", "pods/exec", "pods/log", "pods/ephemeralcontainers",
                "pods/portforward", "pods/proxy", "services/proxy", "daemonsets.apps", "deployments.apps",
                "serviceaccounts/token", "rolebindings.rbac.authorization.k8s.io"),
    _OTHER: (_PROFILES, f"{_PROFILES}/status", "pods", "pods/exec", "pods/binding"),
    _TEAM: (f"{_PROFILES}/status", "pods/binding"),
    None: ("gpunodes.crossover.dev", "gpunodes.crossover.dev/status", "nodes", "nodes/proxy",
           "customresourcedefinitions.apiextensions.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
           "mutatingwebhookconfigurations.admissionregistration.k8s.io",
           "validatingadmissionpolicies.admissionregistration.k8s.io",
           "validatingadmissionpolicybindings.admissionregistration.k8s.io", "persistentvolumes")}
# These are our mounts in a container that shares: the library, the file by which it is loaded, and the arbiter's
# socket.
_MOUNTED = {"/etc/ld.so.preload", "/run/crossover", "/run/crossover-mps/pipe", "/opt/crossover"}
_SOCKETS = "/run/crossover"  # in the container; on the host it is a folder that may hold nothing else


def profile(namespace):
    return json.dumps({"apiVersion": "crossover.dev/v1alpha1", "kind": "JobProfile", "spec": {},
                       "metadata": {"name": "hint", "namespace": namespace}})


class Ports(unittest.TestCase):
    VALUES = {}  # of the chart, over the defaults of the tests

    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        gpus = SoftwareGpus(cls.cluster, pairs.Shape(0.6).machine(), build.gpu_libraries)
        cls.release = Release(cls.cluster, build, gpus)
        cls.release.prepare()
        for name in (_TEAM, _OTHER):
            cls.cluster.namespace(name)
        cls.cluster.kubectl("create", "rolebinding", "visitor", "--clusterrole", "edit", "--serviceaccount",
                            f"{_TEAM}:default", "--namespace", _TEAM)
        cls.cluster.image_of(_SHELL, {"/bin/sleep": "/bin/sleep"})
        cls.release.install(**cls.VALUES)
        cls.visitor = cls.running(restricted("visitor", _SHELL, _SLEEP))
        cls.server = (cls.cluster.get("service", "kubernetes", "default")["spec"]["clusterIP"], 443)
        cls.token = cls.cluster.kubectl("create", "token", "default", "--namespace", _TEAM).strip()

    @classmethod
    def running(cls, pod):
        """Creates a pod and returns it once it runs."""
        cls.cluster.kubectl("create", "--namespace", _TEAM, "--filename", "-", input=json.dumps(pod))
        return cls.cluster.wait_for("pod", pod["metadata"]["name"], phase("Running"), _TEAM)

    def ask(self, address, path, **more):
        return inside.ask(self.visitor, address, path, **more)

    def addresses(self, component, port):
        return [(pod["status"]["podIP"], port) for pod in self.release.pods(component)]

    def test_each_port_that_is_open_is_stated(self):
        for component, known in _PORTS.items():
            pods = self.release.pods(component)
            self.assertEqual(len(pods), 2, component)
            for pod in pods:
                self.assertEqual(inside.ports_of(pod), known, pod["metadata"]["name"])

    def test_the_scheduler_s_verbs_are_for_its_own_pod(self):
        for address in self.addresses("extender", _VERBS):
            with self.assertRaises(ConnectionRefusedError):
                self.ask(address, "/filter", method="POST", body="{}")
        self.assertEqual(self.ask(self.addresses("extender", _HEALTH)[0], "/healthz")[0], 200, "the way is open")

    def test_metrics_are_for_those_who_may_read_them(self):
        for component, port in (("extender", _METRICS), ("deviceplugin", _DAEMON)):
            for address, token in itertools.product(self.addresses(component, port), (None, self.token, *_MADE_UP)):
                status, said = self.ask(address, "/metrics", token=token)
                self.assertIn(status, _NOT_FOR_THEM, f"{component}: {said[:200]}")
                self.assertNotIn("crossover_", said)

    def test_metrics_of_the_extender_are_as_prometheus_wants_them(self):
        """Looks at both replicas. The leader has more metrics, and has all of them once a pod has asked for a place."""
        pod = with_slots("placed", _SHELL, _SLEEP)
        pod["metadata"]["annotations"] = {"crossover.dev/share": "true", "crossover.dev/gang": "placed",
                                          "crossover.dev/gang-size": "1"}
        self.running(pod)
        token, verbs = reading_token(self.cluster), 0
        for address in self.addresses("extender", _METRICS):
            status, text = self.ask(address, "/metrics", token=token)
            self.assertEqual(status, 200, text)
            self.assertEqual(judged(self.cluster, text), (0, ""))
            bad = text.replace("crossover_extender_admissions_total", "crossover_extender_admissions")
            self.assertNotEqual(judged(self.cluster, bad)[0], 0, "the control: a counter without its ending")
            verbs += text.count("crossover_extender_answer_seconds_count{")
        self.assertGreater(verbs, 0, "of the verbs that the scheduler asked for")
        for address in self.addresses("extender", _SCHEDULER):
            status, text = self.ask(address, "/metrics", token=token, secure=True)
            self.assertEqual(status, 200, text)
            self.assertIn("scheduler_pending_pods", text, "the scheduler's, by the same token")

    def test_the_scheduler_tells_nothing_but_its_health(self):
        paths = ("/metrics", "/metrics/resources", "/configz", "/debug/pprof/", "/debug/flags/v", "/flagz", "/statusz")
        for address, path, token in itertools.product(self.addresses("extender", _SCHEDULER), paths,
                                                      (None, self.token)):
            status, said = self.ask(address, path, token=token, secure=True)
            self.assertIn(status, _NOT_FOR_THEM, f"{path}: {said[:200]}")

    def test_health_names_no_job(self):
        for component, port in (("extender", _HEALTH), ("deviceplugin", _DAEMON)):
            for address, path in itertools.product(self.addresses(component, port), ("/healthz", "/readyz")):
                self.assertEqual(self.ask(address, path), (200, "ok\n"))
            self.assertEqual(self.ask(address, "/")[0], 404)

    def test_the_webhook_answers_reviews_and_does_nothing(self):
        before = self.cluster.kubectl("get", "pods,gpunodes,jobprofiles", "--all-namespaces", "--output", "name")
        for address in self.addresses("extender", _WEBHOOK):
            for path in ("/", "/metrics", "/filter", "/bind"):
                self.assertEqual(self.ask(address, path, method="POST", body="{}", secure=True)[0], 404, path)
            self.assertEqual(self.ask(address, "/admit/pods", secure=True)[0], 405)
            self.assertEqual(self.ask(address, "/admit/pods", method="POST", body="{}", secure=True)[0], 400)
            pod = with_slots("p", _SHELL, _SLEEP)
            pod["metadata"] |= {"namespace": _OTHER, "annotations": {"crossover.dev/share": "true"}}
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
                "uid": "u", "operation": "CREATE", "namespace": _OTHER, "userInfo": {"username": "u"},
                "resource": {"group": "", "version": "v1", "resource": "pods"}, "object": pod}}
            status, said = self.ask(address, "/admit/pods", method="POST", body=json.dumps(review), secure=True)
            self.assertEqual((status, json.loads(said)["response"]["uid"]), (200, "u"))
        after = self.cluster.kubectl("get", "pods,gpunodes,jobprofiles", "--all-namespaces", "--output", "name")
        self.assertEqual(before, after)

    def as_visitor(self, *words, thing=None):
        """Runs kubectl with the pod's token and nothing else."""
        return self.cluster.kubectl("--kubeconfig", "/dev/null", "--server", self.cluster.server,
                                    "--certificate-authority", str(self.cluster.setup.certificates.authority),
                                    "--token", self.token, *words, input=thing, check=False)

    def may(self, verb, kind, namespace):
        """Tells whether the API server permits this to the visitor. The question is sent from the visitor's pod."""
        name, _, part = kind.partition("/")
        resource, _, group = name.partition(".")
        about = {"verb": verb, "group": group, "resource": resource, "subresource": part, "namespace": namespace or ""}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                  "spec": {"resourceAttributes": about}}
        status, said = self.ask(self.server, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", method="POST",
                                body=json.dumps(review), token=self.token, secure=True)
        self.assertEqual(status, 201, said)
        return json.loads(said)["status"]["allowed"]

    def test_no_verb_of_the_api_server_is_open(self):
        closed = {verb for verb in (*_READ, *_WRITE) if not self.may(verb, _PROFILES, _TEAM)}
        self.assertLessEqual(closed, {"deletecollection"}, "the control: the visitor's own, by the chart's role")
        opened = [(verb, kind) for where, kinds in _OURS.items() for kind in kinds for verb in (*_READ, *_WRITE)
                  if self.may(verb, kind, where)]
        self.assertEqual(opened, [])

    def test_a_few_of_them_for_real(self):
        create = ["create", "--filename", "-"]
        done = self.as_visitor(*create, thing=profile(_TEAM))
        self.assertEqual(done.returncode, 0, f"the control: {done.stderr}")
        for words in (create, ["delete", "gpunode", self.cluster.nodes[0].name],
                      ["patch", "jobprofile", "hint", "--namespace", _TEAM, "--subresource", "status",
                       "--type", "merge", "--patch", '{"status": {"samples": 9}}'],
                      ["get", "secret", "crossover-admission", "--namespace", NAMESPACE],
                      ["get", "jobprofiles", "--namespace", _OTHER], ["get", "gpunodes"],
                      ["get", "--raw", "/metrics"],
                      ["delete", "lease", "crossover-scheduler", "--namespace", NAMESPACE],
                      ["delete", "daemonset", "crossover-deviceplugin", "--namespace", NAMESPACE]):
            done = self.as_visitor(*words, thing=profile(_OTHER))
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("Forbidden", done.stderr, words)

    def test_what_is_mounted_into_a_pod_that_shares(self):
        pod = with_slots("shares", _SHELL, _SLEEP)
        pod["metadata"]["annotations"] = {"crossover.dev/share": "true", "crossover.dev/gang": "shares",
                                          "crossover.dev/gang-size": "1"}
        shares = self.running(pod)
        mounts = inside.mounts_of(shares, "sleep")
        ours = self.ours(mounts)
        self.assertIn("/etc/ld.so.preload", ours)
        self.assertEqual(ours - _MOUNTED, set())
        self.assertEqual(inside.files_of(shares, "sleep", _SOCKETS), {"arbiter.sock"})
        self.assertEqual(self.ours(inside.mounts_of(self.visitor, "sleep")), set())

    def ours(self, mounts):
        """Returns our mounts without those of the software GPUs, which are in the test's own folder."""
        return {mount for mount in mounts if not mount.startswith(str(self.cluster.directory))
                and ("crossover" in mount or mount == "/etc/ld.so.preload")}


if __name__ == "__main__":
    unittest.main()
