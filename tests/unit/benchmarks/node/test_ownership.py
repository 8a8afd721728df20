"""Tests what counts as a GPU that was given to two owners."""

import unittest

from benchmarks.node.ownership import faults
from testing.cluster.pods import SLOT

_GPU, _OTHER = "GPU-1", "GPU-2"


def _slot(pod, number, gpu=_GPU):
    return pod, SLOT, f"{gpu}::{number}"


class Ownership(unittest.TestCase):
    def test_pods_may_share_as_many_slots_as_there_are(self):
        self.assertEqual(list(faults([_slot("a", 0), _slot("b", 1), _slot("a", 0, _OTHER)], 2)), [])

    def test_more_pods_than_slots(self):
        found = list(faults([_slot("a", 0), _slot("b", 1), _slot("c", 2)], 2))
        self.assertEqual(found, ["GPU-1 has 3 pods, of 2 slots"])

    def test_one_slot_of_two_pods(self):
        self.assertEqual(list(faults([_slot("a", 0), _slot("b", 0)], 2)), [f"{SLOT} GPU-1::0 is had by 2 pods"])

    def test_a_gpu_that_another_resource_gives_out_too(self):
        found = list(faults([_slot("a", 0), ("b", "nvidia.com/gpu", "replica-of-GPU-1")], 2))
        self.assertEqual(found, ["GPU-1 is nvidia.com/gpu of pod b, and has slots given out"])

    def test_gpus_of_another_resource_alone_are_its_own(self):
        self.assertEqual(list(faults([_slot("a", 0), ("b", "nvidia.com/gpu", _OTHER)], 2)), [])


if __name__ == "__main__":
    unittest.main()
