"""Tests the webhook on a real API server: pods that ask to share are rewritten into gated pods of a gang that ask for
slots."""

import sys
import unittest
from pathlib import Path

from testing.cluster.pods import SLOT
from testing.cluster.services import mutating_webhook, service
from testing.processes import Failed
from tests.cluster.security.webhook_case import MANIFESTS, NAMESPACE, PATIENCE_S, SYSTEM, WebhookCase, pod_that_says
from tests.process.demo.leftovers import until

_TWICE = "twice"
_ACCOUNT = f"system:serviceaccount:{SYSTEM}:crossover-extender"


class Admission(WebhookCase):
    def tearDown(self):
        super().tearDown()
        self.cluster.kubectl("delete", "pods", "--all", "--namespace", _TWICE, "--now")

    def test_whole_gpus_become_slots_of_a_pod_that_waits(self):
        pod = self.create(pod_that_says("one", {"share": "true", "gpu-memory": "20Gi", "gang": "a", "gang-size": "2"}))
        main = pod["spec"]["containers"][0]
        self.assertEqual(main["resources"], {"limits": {SLOT: "2"}, "requests": {SLOT: "2"}})
        self.assertEqual(main["env"], [{"name": "CROSSOVER_GPU_MEMORY", "value": "20Gi"}])
        self.assertEqual(pod["spec"]["schedulerName"], "crossover-scheduler")
        self.assertEqual(pod["spec"]["schedulingGates"], [{"name": "crossover.dev/gang"}])
        self.assertEqual(pod["metadata"]["labels"], {"crossover.dev/managed": "true"})
        self.cluster.wait_for("pod", "one", lambda now: any(
            c.get("reason") == "SchedulingGated" for c in now["status"].get("conditions", ())), NAMESPACE)

    def test_a_pod_that_was_admitted_is_admitted_as_it_is(self):
        first = self.create(pod_that_says("first", {"share": "true"}))
        again = {"apiVersion": "v1", "kind": "Pod", "spec": first["spec"],
                 "metadata": {"name": "again", **{k: first["metadata"][k] for k in ("annotations", "labels")}}}
        second = self.create(again)
        for part in ("annotations", "labels"):
            self.assertEqual(second["metadata"][part], first["metadata"][part])
        self.assertEqual(second["spec"], first["spec"])

    def test_it_is_asked_again_after_others_and_heeds_what_they_add(self):
        certificates = self.cluster.setup.certificates
        self.cluster.namespace(_TWICE)
        self.cluster.start("other", [sys.executable, "-B", str(Path(__file__).parents[1] / "rig" / "stand_in.py"),
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
            made.append(self.create(pod_that_says(f"pod-{len(made)}", {"share": "true"}), _TWICE))
            asked.append(self.said().count("pod rewritten") - before)
            return "seen" in made[-1]["metadata"]["labels"]
        asked = []
        self.assertTrue(until(seen, PATIENCE_S), "the other webhook never changed a pod")
        self.assertEqual(asked[-1], 2, "asked twice: before the other and after it")
        self.assertEqual(asked[:-1], [1] * (len(asked) - 1), "the control: without the other it is asked once")
        self.assertEqual(made[-1]["spec"]["schedulingGates"], [{"name": "crossover.dev/gang"}])
        self.assertEqual(made[-1]["spec"]["containers"][0]["resources"]["limits"], {SLOT: "2"})
        marks = [pod["metadata"]["annotations"]["crossover.dev/admitted"] for pod in made]
        self.assertEqual(made[-1]["metadata"]["annotations"]["crossover.dev/max-slowdown"], "2")
        self.assertNotIn(marks[-1], marks[:-1], "it is of the annotations as they came to be")

    def test_malformed_pods_are_refused_in_words(self):
        for annotations, words in (
                ({"share": "yes"}, "crossover.dev/share: expected true or exclusive, got yes"),
                ({"share": "true", "gangsize": "2"}, "crossover.dev/gangsize: there is no such annotation; "
                                                     "crossover.dev/gang-size is the nearest"),
                ({"assignment": "{}"}, "crossover.dev/assignment: expected no such annotation, .*, got {}"),
                ({"gpu-memory": "20GB"}, "crossover.dev/gpu-memory: expected a whole number of bytes, .*, got 20GB")):
            with self.subTest(words), self.assertRaisesRegex(Failed, words):
                self.create(pod_that_says("bad", annotations))
        with self.assertRaisesRegex(Failed, "crossover.dev/gang: expected an annotation, got a label with the value a"):
            pod = pod_that_says("bad", {})
            pod["metadata"]["labels"] = {"crossover.dev/gang": "a"}
            self.create(pod)

    def test_a_quota_on_gpus_alone_is_not_evaded(self):
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpus", "namespace": NAMESPACE},
                 "spec": {"hard": {"requests.nvidia.com/gpu": "4"}}}
        self.cluster.apply(quota)
        self.addCleanup(self.cluster.kubectl, "delete", "resourcequota", "gpus", "--namespace", NAMESPACE)
        api = self.cluster.api()
        self.addCleanup(api.close)

        def refused():
            try:
                self.dry_run(api)
                return False
            except Failed as failure:
                return "has a quota on nvidia.com/gpu and none on crossover.dev/slot" in str(failure)
        self.assertTrue(until(refused, PATIENCE_S))
        quota["spec"]["hard"]["requests.crossover.dev/slot"] = "4"
        self.cluster.apply(quota)
        self.assertTrue(until(lambda: not refused(), PATIENCE_S))

    def limit_range(self, item):
        """Creates a LimitRange for containers, or replaces the one that is there."""
        self.cluster.apply({"apiVersion": "v1", "kind": "LimitRange",
                            "metadata": {"name": "gpus", "namespace": NAMESPACE},
                            "spec": {"limits": [{"type": "Container", **item}]}})
        self.addCleanup(self.cluster.kubectl, "delete", "limitrange", "gpus", "--namespace", NAMESPACE,
                        "--ignore-not-found")

    def refusal(self, api):
        """Returns why a pod that shares is refused, or "" if it is admitted."""
        try:
            self.dry_run(api)
            return ""
        except Failed as failure:
            return str(failure)

    def test_a_limit_range_that_bounds_gpus_is_refused_in_words(self):
        api = self.cluster.api()
        self.addCleanup(api.close)
        self.limit_range({"max": {"nvidia.com/gpu": "8"}})
        words = ("LimitRange gpus: max.nvidia.com/gpu: expected none, because pods that share ask for "
                 "crossover.dev/slot in its place, got 8: an administrator has to bound crossover.dev/slot "
                 "there, or nothing")
        self.assertTrue(until(lambda: words in self.refusal(api), PATIENCE_S))
        self.limit_range({"max": {SLOT: "8"}})
        self.assertTrue(until(lambda: not self.refusal(api), PATIENCE_S), self.refusal(api))

    def test_whole_gpus_that_a_limit_range_gives_become_no_second_kind(self):
        api = self.cluster.api()
        self.addCleanup(api.close)
        self.limit_range({"default": {"nvidia.com/gpu": "1"}, "defaultRequest": {"nvidia.com/gpu": "1"}})
        self.assertTrue(until(lambda: not self.refusal(api), PATIENCE_S), "it knows the LimitRange")
        pod = self.create(pod_that_says("given", {"share": "true"}))
        self.assertEqual(pod["spec"]["containers"][0]["resources"], {"limits": {SLOT: "2"}, "requests": {SLOT: "2"}})

    def test_what_pods_say_is_changed_by_our_services_alone(self):
        self.create(pod_that_says("kept", {"share": "true"}))

        def annotate(*words, user=()):
            return self.cluster.kubectl("annotate", "--overwrite", "pod", "kept", *words, "--namespace", NAMESPACE,
                                        *user, check=False)
        self.assertEqual(annotate("crossover.dev/status-x=1").returncode, 0, "the control: without the policy")
        self.cluster.kubectl("apply", "--filename", str(MANIFESTS / "webhook" / "policy.yaml"))
        self.addCleanup(self.cluster.kubectl, "delete", "--filename", str(MANIFESTS / "webhook" / "policy.yaml"))
        numbers = iter(range(2, 10_000))
        self.assertTrue(until(lambda: annotate(f"crossover.dev/status-x={next(numbers)}").returncode, PATIENCE_S))
        for words, said in (
                (["crossover.dev/assignment={}"], "crossover.dev/assignment: .* may not change it"),
                (["crossover.dev/share-"], "crossover.dev/share: .* may not change it"),
                (["crossover.dev/mode=on"], "crossover.dev/mode: expected enforce, observe or off, got on")):
            with self.subTest(words):
                done = annotate(*words)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, said)
        labelled = self.cluster.kubectl("label", "pod", "kept", "crossover.dev/managed-", "--namespace", NAMESPACE,
                                        check=False)
        self.assertRegex(labelled.stderr, "crossover.dev/managed is a label of Crossover")
        for words in (["crossover.dev/mode=off"], ["crossover.dev/mode-"], ["other.dev/note=x"]):
            self.assertEqual(annotate(*words).stderr, "")
        self.cluster.kubectl("create", "rolebinding", "writes", "--clusterrole=edit", "--namespace", NAMESPACE,
                             f"--serviceaccount={SYSTEM}:crossover-extender")
        done = annotate("crossover.dev/reservation={}", user=[f"--as={_ACCOUNT}"])
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
