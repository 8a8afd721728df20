"""Tests what the events of pods say of their gangs."""

import json
import unittest
from unittest import mock

from testing.cluster.gang_lives import GangLives
from testing.cluster.gpu_judge import GpuJudge


def pod(job, number, node="", gpu="", reserved=False):
    name = f"{job}-{number}-abcde"
    annotations = {"crossover.dev/assignment": json.dumps({"containers": {"main": [gpu]}})} if gpu else {}
    if reserved:
        annotations["crossover.dev/reservation"] = "{}"
    return {"metadata": {"name": name, "uid": f"uid-{name}", "namespace": "team", "annotations": annotations,
                         "labels": {"batch.kubernetes.io/job-name": job}},
            "spec": {"nodeName": node} if node else {}, "status": {"phase": "Pending"}}


def told(about, why="no GPUs are free"):
    return {"reason": "GangWaits", "message": why, "involvedObject": {"uid": about["metadata"]["uid"]}}


class Lives(unittest.TestCase):
    def setUp(self):
        self.lives, self.now = GangLives(), 0.0
        clock = mock.patch("time.monotonic", lambda: self.now)
        clock.start()
        self.addCleanup(clock.stop)
        self.lives.expect("a", 2)

    def see(self, when, thing, kind="MODIFIED"):
        self.now = when
        self.lives.on_pod(when, kind, thing)

    def test_half_gangs(self):
        self.see(1.0, pod("a", 0, "n"))
        self.now = 20.0
        self.assertEqual(self.lives.half_past(30), [])
        self.now = 32.0
        self.assertEqual(self.lives.half_past(30), ["a"], "it still is one")
        self.see(33.0, pod("a", 0, "n"), "DELETED")
        self.assertEqual(self.lives.half_past(30), ["a"], "it was one for 32 s")
        self.assertEqual(self.lives.half_past(32.5), [])

    def test_a_gang_that_is_whole_is_no_half_one_and_never_becomes_one(self):
        for number in range(2):
            self.see(number, pod("a", number, "n"))
        self.assertTrue(self.lives.whole("a"))
        self.see(3.0, pod("a", 0, "n"), "DELETED")
        self.now = 100.0
        self.assertEqual((self.lives.half_past(5), self.lives.whole("a"), self.lives.was_whole("a")), ([], False, True))

    def test_who_waited_without_a_word(self):
        silent, informed = pod("a", 0), pod("a", 1)
        self.see(0.0, silent, "ADDED")
        self.see(0.0, informed, "ADDED")
        self.lives.on_event(1.0, "ADDED", told(informed))
        self.assertEqual(self.lives.untold(10), set())
        self.now = 11.0
        self.assertEqual(self.lives.untold(10), {silent["metadata"]["name"]})
        self.assertEqual(self.lives.waited_untold(10), (1, 2))
        self.assertEqual(self.lives.reasons("a"), {"no GPUs are free"})
        self.see(12.0, pod("a", 0, "n"))
        self.assertEqual(self.lives.untold(10), set(), "it does not wait any more")
        self.assertEqual(self.lives.waited_untold(10), (1, 2))

    def test_others_events_and_empty_ones_are_no_reason(self):
        self.see(0.0, pod("a", 0), "ADDED")
        self.lives.on_event(1.0, "ADDED", {**told(pod("a", 0)), "reason": "FailedScheduling"})
        self.lives.on_event(1.0, "ADDED", told(pod("a", 0), ""))
        self.now = 11.0
        self.assertEqual(len(self.lives.untold(10)), 1)

    def test_reservations_of_pods_that_are_not_bound(self):
        self.see(0.0, pod("a", 0, reserved=True))
        self.see(0.0, pod("a", 1, "n", reserved=True))
        self.assertEqual(self.lives.reserved(), {"a-0-abcde"})


class Judge(unittest.TestCase):
    def setUp(self):
        self.judge = GpuJudge(slots=2)

    def see(self, thing, kind="MODIFIED"):
        self.judge.on_pod(0.0, kind, thing)

    def test_two_ranks_of_a_gang(self):
        self.see(pod("a", 0, "n", "g"))
        self.assertEqual(self.judge.found, set())
        self.see(pod("a", 1, "n", "g"))
        self.assertEqual((set(self.judge.two_ranks), set(self.judge.overfull)), ({"g"}, set()))

    def test_more_pods_than_slots(self):
        for job in "abc":
            self.assertEqual(self.judge.found, set())
            self.see(pod(job, 0, "n", "g"))
        self.assertEqual((set(self.judge.two_ranks), set(self.judge.overfull)), (set(), {"g"}))

    def test_a_pod_that_is_gany_holds_nothing(self):
        for job in "abc":
            self.see(pod(job, 0, "n", "g"))
            self.see(pod(job, 0, "n", "g"), "DELETED")
        self.assertEqual(self.judge.found, set())

    def test_what_nodes_say_counts_as_well(self):
        holders = [{"namespace": "team", "gang": "a", "pod": f"a-{number}-abcde"} for number in range(2)]
        node = {"metadata": {"name": "n"}, "status": {"gpus": [{"uuid": "g", "holders": holders}]}}
        self.judge.on_gpu_node(0.0, "ADDED", node)
        self.assertEqual(set(self.judge.two_ranks), {"g"})
        self.assertEqual(self.judge.held("a"), ["g", "g"])
        self.assertEqual(self.judge.held("b"), [])


if __name__ == "__main__":
    unittest.main()
