"""Tests that a kubelet's real device manager gives containers the GPUs that they were assigned."""

import os
import unittest
from pathlib import Path

from testing.commands import Build
from testing.slots.slot_churn import Churn, Habits
from testing.slots.slot_node import SlotNode
from testing.slots.slot_plays import play, unassigned
from testing.slots.slot_pods import PAIRS

_PODS = 100


class DeviceManager(unittest.TestCase):
    def setUp(self):
        self.build = Build(Path(os.environ["BUILD"]))

    def play(self, **habits):
        return play(self.build, Habits(**habits), _PODS)

    def check(self, tally):
        self.assertGreaterEqual(tally.containers, _PODS)
        self.assertGreater(tally.largest_burst, 3)
        self.assertEqual((tally.differing, tally.examples, dict(tally.rejected)), (0, [], {}))

    def test_pods_of_all_kinds_get_what_they_were_assigned(self):
        self.check(self.play())

    def test_so_do_pods_that_all_ask_for_the_same(self):
        self.check(self.play(kind=PAIRS))

    def test_so_do_pods_that_come_while_others_end(self):
        self.check(self.play(late_endings=True))

    def test_so_do_pods_that_are_bound_in_another_order_than_they_were_made(self):
        self.check(self.play(any_order=True))

    def test_a_daemon_that_does_not_see_the_assignments_is_found_out(self):
        blind = play(self.build, Habits(), _PODS, unassigned)
        self.assertGreater(blind.rate, 0.3)

    def test_what_runs_keeps_its_slots_when_the_kubelet_starts_anew(self):
        with SlotNode(self.build) as node:
            churn = Churn(node, seed=1, habits=Habits(kind=PAIRS))
            churn.burst(6)
            before = dict(churn.alive)
            churn.restart_kubelet()
            self.assertEqual(churn.alive, before)
            node.wait_until_served()
            churn.burst(6)
            self.assertEqual((churn.tally.differing, dict(churn.tally.rejected)), (0, {}))


if __name__ == "__main__":
    unittest.main()
