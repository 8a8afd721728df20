"""Tests pods with assignments as the figures of slots make them, and what these figures call a mismatch."""

import json
import unittest
from collections import Counter

from benchmarks.node import slot_faults
from testing.slots import slot_churn, slot_tally
from testing.slots.slot_pods import ASSIGNMENT, Container, INIT, MAIN, Planner, Pod, RESOURCE, SIDECAR, gpus_of

GPUS = tuple("abcdefgh")
SLOTS = 3


def full_node(seed, **kind):
    planner = Planner(GPUS, SLOTS, seed, **kind)
    return planner, list(iter(lambda: planner.plan(0), None))


class Plans(unittest.TestCase):
    def test_no_slot_is_given_twice_and_what_is_freed_is_given_again(self):
        for seed in range(50):
            planner, pods = full_node(seed)
            held = Counter(gpu for pod in pods for container in pod.lasting for gpu in container.gpus)
            self.assertLessEqual(max(held.values()), SLOTS)
            for pod in pods:
                planner.free(pod)
            self.assertIsNotNone(planner.plan(0))

    def test_a_container_has_all_that_init_containers_leave_to_it(self):
        pods = [pod for seed in range(50) for pod in full_node(seed)[1]]
        self.assertEqual({c.kind for pod in pods for c in pod.containers}, {INIT, SIDECAR, MAIN})
        for pod in pods:
            for before, after in zip(pod.containers, pod.containers[1:]):
                if before.kind == INIT:
                    self.assertLessEqual(set(before.gpus), set(after.gpus))
            for container in pod.containers:
                self.assertEqual(len(set(container.gpus)), len(container.gpus))

    def test_pods_of_one_size(self):
        pods = full_node(1, sizes=(2,), complex_pods=False)[1]
        self.assertEqual({len(container.gpus) for pod in pods for container in pod.containers}, {2})

    def test_manifest(self):
        containers = Container("i", INIT, ("a",)), Container("s", SIDECAR, ("a", "b")), Container("m", MAIN, ("c",))
        made = Pod(7, 0, containers).manifest()
        self.assertEqual(json.loads(made["metadata"]["annotations"][ASSIGNMENT]),
                         {"containers": {"i": ["a"], "s": ["a", "b"], "m": ["c"]}})
        self.assertEqual(made["metadata"]["creationTimestamp"], "1970-01-01T00:00:00Z")
        asked = [(c["name"], c["resources"]["limits"][RESOURCE], c.get("restartPolicy"))
                 for c in made["spec"]["initContainers"] + made["spec"]["containers"]]
        self.assertEqual(asked, [("i", "1", None), ("s", "2", "Always"), ("m", "1", None)])


class Judgements(unittest.TestCase):
    pod = Pod(1, 0, (Container("one", MAIN, ("a", "b")), Container("two", MAIN, ("c",))))

    def test_other_gpus_differ_and_other_slots_do_not(self):
        def verdict(one, two):
            return {"containers": {"one": {"ids": one}, "two": {"ids": two}}}
        self.assertEqual(slot_tally.differing(self.pod, verdict(["b::1", "a::0"], ["c::2"])), [])
        self.assertEqual(slot_tally.differing(self.pod, verdict(["a::0", "a::1"], ["d::0"])), ["one", "two"])

    def test_of_a_rejected_pod_all_containers_differ(self):
        self.assertEqual(slot_tally.differing(self.pod, {"rejected": "no healthy devices"}), ["one", "two"])

    def test_gpus_of_ids(self):
        self.assertEqual(gpus_of(["b::1", "a::0", "a::2"]), ("a", "a", "b"))

    def test_doubles_are_ids_of_two_pods_not_of_two_containers(self):
        alive = {"1": slot_churn.Running(self.pod, {"one": ("a::0", "b::0"), "two": ("a::0",)}),
                 "2": slot_churn.Running(self.pod, {"one": ("b::0", "c::1"), "two": ("c::0",)})}
        self.assertEqual(slot_faults.doubles_of(alive), ["b::0"])
        self.assertEqual(slot_faults.drifts_of(alive), 2)


if __name__ == "__main__":
    unittest.main()
