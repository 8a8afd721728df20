"""The webhook on a real API server: pods that want to share come to be as slots of a gang that waits."""

import base64
import contextlib
import json
import os
import sys
import threading
import unittest
from pathlib import Path

from benchmarks.processes import Failed
from tests.cluster.pods import SLOT, restricted
from tests.cluster.rig import Cluster, gone
from tests.cluster.services import mutating_webhook, service
from tests.process.demo.leftovers import until

_NAMESPACE, _SYSTEM, _TWICE = "team", "crossover-system", "twice"
_ACCOUNT = f"system:serviceaccount:{_SYSTEM}:crossover-extender"
_MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"
_PORT = 8444
_PATIENCE_S = 60.0


class Admission(unittest.TestCase):
    """Nothing runs here: pods that are made wait behind their gate, or for a node that has what they ask for."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=1)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        for name in (_SYSTEM, _NAMESPACE):
            cls.cluster.namespace(name)
        for name in ("extender-account", "admission"):
            cls.cluster.kubectl("apply", "--filename", str(_MANIFESTS / "rbac" / f"{name}.yaml"))
        cls.cluster.apply(service("crossover-extender", _SYSTEM, cls.cluster.address, _PORT))
        cls.cluster.kubectl("apply", "--filename", str(_MANIFESTS / "webhook" / "configuration.yaml"))
        token = cls.cluster.kubectl("create", "token", "crossover-extender", "--namespace", _SYSTEM)
        cls.token = cls.cluster.directory / "admission-token"
        cls.token.write_text(token, encoding="utf-8")
        cls.start_webhook()

    @classmethod
    def start_webhook(cls):
        cluster = cls.cluster
        cluster.start("admission", [os.environ["ADMISSION_WEBHOOK"], cluster.server,
                                    str(cluster.setup.certificates.authority), str(cls.token), cluster.address,
                                    str(_PORT), str(cluster.directory / "admission.pem")])

        def answers():
            try:
                return "crossover.dev/managed" in cls.dry_run(api)["metadata"].get("labels", {})
            except Failed:
                return False
        with contextlib.closing(cluster.api()) as api:
            if not until(answers, _PATIENCE_S):
                raise Failed(f"the webhook does not answer: {cls.said()[-2000:]}")

    @classmethod
    def said(cls):
        return (cls.cluster.setup.logs / "admission.log").read_text(errors="replace")

    @classmethod
    def dry_run(cls, api):
        return api.create(f"/api/v1/namespaces/{_NAMESPACE}/pods?dryRun=All", _pod("dry", {"share": "true"}))

    def create(self, pod, namespace=_NAMESPACE):
        """As it came to be."""
        return json.loads(self.cluster.kubectl("create", "--namespace", namespace, "--filename", "-", "--output",
                                               "json", input=json.dumps(pod)))

    def tearDown(self):
        for namespace in (_NAMESPACE, _TWICE):
            self.cluster.kubectl("delete", "pods", "--all", "--namespace", namespace, "--now")

    def test_whole_gpus_become_slots_of_a_pod_that_waits(self):
        pod = self.create(_pod("one", {"share": "true", "gpu-memory": "20Gi", "gang": "a", "gang-size": "2"}))
        main = pod["spec"]["containers"][0]
        self.assertEqual(main["resources"], {"limits": {SLOT: "2"}, "requests": {SLOT: "2"}})
        self.assertEqual(main["env"], [{"name": "CROSSOVER_GPU_MEMORY", "value": "20Gi"}])
        self.assertEqual(pod["spec"]["schedulerName"], "crossover-scheduler")
        self.assertEqual(pod["spec"]["schedulingGates"], [{"name": "crossover.dev/gang"}])
        self.assertEqual(pod["metadata"]["labels"], {"crossover.dev/managed": "true"})
        self.cluster.wait_for("pod", "one", lambda now: any(
            c.get("reason") == "SchedulingGated" for c in now["status"].get("conditions", ())), _NAMESPACE)

    def test_a_pod_that_was_admitted_is_admitted_as_it_is(self):
        first = self.create(_pod("first", {"share": "true"}))
        again = {"apiVersion": "v1", "kind": "Pod", "spec": first["spec"],
                 "metadata": {"name": "again", **{k: first["metadata"][k] for k in ("annotations", "labels")}}}
        second = self.create(again)
        for part in ("annotations", "labels"):
            self.assertEqual(second["metadata"][part], first["metadata"][part])
        self.assertEqual(second["spec"], first["spec"])

    def test_it_is_asked_again_after_others_and_changes_nothing(self):
        certificates = self.cluster.setup.certificates
        self.cluster.namespace(_TWICE)
        self.cluster.start("other", [sys.executable, "-B", str(Path(__file__).with_name("stand_in.py")),
                                     self.cluster.address,
                                     *map(str, certificates.serving("other", [f"zz-other.{_TWICE}.svc",
                                                                              self.cluster.address]))])
        self.cluster.wait_for_servers(f"https://{self.cluster.address}:8443/")
        self.cluster.apply(service("zz-other", _TWICE, self.cluster.address, 8443))
        self.cluster.apply(mutating_webhook("zz-other", _TWICE, certificates.authority_text()))
        self.addCleanup(self.cluster.kubectl, "delete", "mutatingwebhookconfiguration", "zz-other")
        made = []

        def seen():
            before = self.said().count("pod rewritten")
            made.append(self.create(_pod(f"pod-{len(made)}", {"share": "true"}), _TWICE))
            asked.append(self.said().count("pod rewritten") - before)
            return "seen" in made[-1]["metadata"]["labels"]
        asked = []
        self.assertTrue(until(seen, _PATIENCE_S), "the other webhook never changed a pod")
        self.assertEqual(asked[-1], 2, "asked twice: before the other and after it")
        self.assertEqual(asked[:-1], [1] * (len(asked) - 1), "the control: without the other it is asked once")
        self.assertEqual(made[-1]["spec"]["schedulingGates"], [{"name": "crossover.dev/gang"}])
        self.assertEqual(made[-1]["spec"]["containers"][0]["resources"]["limits"], {SLOT: "2"})

    def test_malformed_pods_are_refused_in_words(self):
        for annotations, words in (
                ({"share": "yes"}, "crossover.dev/share: yes is not allowed: true or exclusive"),
                ({"share": "true", "gangsize": "2"}, "crossover.dev/gangsize: there is no such annotation; "
                                                     "crossover.dev/gang-size is the nearest"),
                ({"assignment": "{}"}, "crossover.dev/assignment: .* Crossover alone writes this annotation"),
                ({"gpu-memory": "20GB"}, "crossover.dev/gpu-memory: 20GB is not allowed")):
            with self.subTest(words), self.assertRaisesRegex(Failed, words):
                self.create(_pod("bad", annotations))
        with self.assertRaisesRegex(Failed, "crossover.dev/gang: a is a label: an annotation is allowed"):
            pod = _pod("bad", {})
            pod["metadata"]["labels"] = {"crossover.dev/gang": "a"}
            self.create(pod)

    def test_a_quota_on_gpus_alone_is_not_evaded(self):
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpus", "namespace": _NAMESPACE},
                 "spec": {"hard": {"requests.nvidia.com/gpu": "4"}}}
        self.cluster.apply(quota)
        self.addCleanup(self.cluster.kubectl, "delete", "resourcequota", "gpus", "--namespace", _NAMESPACE)
        api = self.cluster.api()
        self.addCleanup(api.close)

        def refused():
            try:
                self.dry_run(api)
                return False
            except Failed as failure:
                return "has a quota on nvidia.com/gpu and none on crossover.dev/slot" in str(failure)
        self.assertTrue(until(refused, _PATIENCE_S))
        quota["spec"]["hard"]["requests.crossover.dev/slot"] = "4"
        self.cluster.apply(quota)
        self.assertTrue(until(lambda: not refused(), _PATIENCE_S))

    def test_while_it_is_down_only_pods_of_ours_wait(self):
        self.create(_pod("before", {"share": "true"}))
        self.cluster.processes.stop(["admission"])
        self.addCleanup(self.start_webhook)
        self.create(_pod("plain", {}))
        self.cluster.kubectl("annotate", "pod", "before", "crossover.dev/mode=off", "--namespace", _NAMESPACE)
        self.cluster.kubectl("delete", "pod", "before", "--namespace", _NAMESPACE, "--wait=false")
        self.cluster.wait_for("pod", "before", gone, _NAMESPACE)
        with self.assertRaisesRegex(Failed, "failed calling webhook \"pods.crossover.dev\""):
            self.create(_pod("waits", {"share": "true"}))
        slots = _pod("slots", {})
        slots["spec"]["containers"][0]["resources"] = {"limits": {SLOT: "1"}}
        with self.assertRaisesRegex(Failed, "failed calling webhook"):
            self.create(slots)

    def test_what_pods_say_is_changed_by_our_services_alone(self):
        self.create(_pod("kept", {"share": "true"}))

        def annotate(*words, user=()):
            return self.cluster.kubectl("annotate", "--overwrite", "pod", "kept", *words, "--namespace", _NAMESPACE,
                                        *user, check=False)
        self.assertEqual(annotate("crossover.dev/status-x=1").returncode, 0, "the control: without the policy")
        self.cluster.kubectl("apply", "--filename", str(_MANIFESTS / "webhook" / "policy.yaml"))
        self.addCleanup(self.cluster.kubectl, "delete", "--filename", str(_MANIFESTS / "webhook" / "policy.yaml"))
        numbers = iter(range(2, 10_000))
        self.assertTrue(until(lambda: annotate(f"crossover.dev/status-x={next(numbers)}").returncode, _PATIENCE_S))
        for words, said in (
                (["crossover.dev/assignment={}"], "crossover.dev/assignment: .* may not change it"),
                (["crossover.dev/share-"], "crossover.dev/share: .* may not change it"),
                (["crossover.dev/mode=on"], "crossover.dev/mode: on is not allowed: enforce, observe or off")):
            with self.subTest(words):
                done = annotate(*words)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, said)
        labelled = self.cluster.kubectl("label", "pod", "kept", "crossover.dev/managed-", "--namespace", _NAMESPACE,
                                        check=False)
        self.assertRegex(labelled.stderr, "crossover.dev/managed is a label of Crossover")
        for words in (["crossover.dev/mode=off"], ["crossover.dev/mode-"], ["other.dev/note=x"]):
            self.assertEqual(annotate(*words).stderr, "")
        self.cluster.kubectl("create", "rolebinding", "writes", "--clusterrole=edit", "--namespace", _NAMESPACE,
                             f"--serviceaccount={_SYSTEM}:crossover-extender")
        done = annotate("crossover.dev/reservation={}", user=[f"--as={_ACCOUNT}"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_authority_is_replaced_under_load(self):
        certificates = self.cluster.setup.certificates
        secret = self._secret()
        before = secret["ca.crt"]
        load = _Load(self.cluster, self.dry_run)
        self.addCleanup(load.end)
        follows = {"next-ca.crt": _encoded(certificates.authority), "next-ca.key": _encoded(certificates.key("ca"))}
        self.assertNotEqual(follows["next-ca.crt"], before)
        self.cluster.kubectl("patch", "secret", "crossover-admission", "--namespace", _SYSTEM, "--type", "merge",
                             "--patch", json.dumps({"data": follows}))

        def replaced():
            return self._bundle() == follows["next-ca.crt"] and not self._secret().get("previous-ca.crt")

        def goes_on():
            after = load.done
            return until(lambda: load.done > after + 20, _PATIENCE_S)
        self.assertTrue(goes_on())
        self.assertTrue(until(replaced, _PATIENCE_S), self.said()[-2000:])
        self.assertEqual(self._secret()["ca.crt"], follows["next-ca.crt"])
        self.assertTrue(goes_on())
        self.assertEqual(load.failures, [])
        # The control: whoever trusts another certificate alone does not trust what is served. It is set right.
        stranger, _ = certificates.serving("stranger", ["stranger"])
        self.cluster.kubectl("patch", "mutatingwebhookconfiguration", "crossover-admission", "--type", "json",
                             "--patch", json.dumps([{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle",
                                                     "value": _encoded(stranger)}]))
        self.assertTrue(until(lambda: load.failures, _PATIENCE_S), "what nobody vouches for is trusted")
        self.assertIn("x509", load.failures[0])
        self.assertTrue(until(replaced, _PATIENCE_S), self.said()[-2000:])
        self.assertTrue(goes_on())

    def _secret(self):
        return self.cluster.get("secret", "crossover-admission", _SYSTEM)["data"]

    def _bundle(self):
        configuration = self.cluster.get("mutatingwebhookconfiguration", "crossover-admission")
        return configuration["webhooks"][0]["clientConfig"]["caBundle"]


class _Load:
    """Pods of dry runs, one after the other, on a connection of its own."""

    def __init__(self, cluster, dry_run):
        self.done, self.failures = 0, []
        self._api, self._dry_run = cluster.api(), dry_run
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self):
        self._ends.set()
        self._thread.join()
        self._api.close()

    def _run(self):
        while not self._ends.is_set():
            try:
                self._dry_run(self._api)
                self.done += 1
            except Failed as failure:
                self.failures.append(str(failure))


def _encoded(path):
    return base64.b64encode(path.read_bytes()).decode()


def _pod(name, annotations):
    """A pod of two whole GPUs that says these things to Crossover."""
    pod = restricted(name, "crossover.test/none:1", ["/bin/sleep", "600"])
    pod["metadata"]["annotations"] = {f"crossover.dev/{key}": value for key, value in annotations.items()}
    pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    return pod


if __name__ == "__main__":
    unittest.main()
