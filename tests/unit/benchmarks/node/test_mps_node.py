"""Tests how one moment of an MPS that fails is judged, on a node whose course of slots and events is written down."""

import unittest

from benchmarks.node import mps_node
from benchmarks.node.mps_node import HOLD_S, Kind, moment
from testing.processes import Failed

_ALL = 4
_WITHHELD = Kind(lambda node: node.go("struck"), lambda node: node.go("cured"), 9.0, 9.0)
_KILLED = Kind(_WITHHELD.strike, _WITHHELD.cure, 0.0, 9.0, "MpsServerEnded", 12.0)


class Node:
    """Stands for a node. `struck` and `cured` list (from which second on, slots). `events` lists (second, reason), from
    the strike on."""

    all_slots = _ALL

    def __init__(self, struck=((2, 0),), cured=((3, _ALL),), events=((2, "MpsTakesNoClients"),)):
        self._courses, self._events = {"struck": struck, "cured": cured}, events
        self._now = self._since = self._struck = 0.0
        self._course, self._before = (), _ALL

    def go(self, what):
        self._before, self._course, self._since = self.slots(), self._courses[what], self._now
        if what == "struck":
            self._struck = self._now

    def slots(self):
        return ([self._before] + [slots for when, slots in self._course if when <= self._now - self._since])[-1]

    def told(self, pod, reason):
        return any(reason == said and when <= self._now - self._struck for when, said in self._events)

    def until(self, so, patience_s):
        end = self._now + patience_s
        while not so():
            if self._now > end:
                return False
            self._now += 0.5
        return True


class Moments(unittest.TestCase):

    def test_a_sound_one(self):
        self.assertEqual(moment(Node(), _WITHHELD, "pod", 0.0), [])
        self.assertEqual(moment(Node(), _WITHHELD, "pod", HOLD_S), [])

    def test_each_thing_that_goes_wrong_is_named(self):
        for node, words in ((Node(struck=()), "slots are given out"),
                            (Node(struck=((11, 0),)), "slots are given out"),
                            (Node(events=()), "the pod is not told"),
                            (Node(events=((2, "MpsGone"),)), "the pod is not told"),
                            (Node(cured=()), "no slots are given out after the end of it")):
            self.assertEqual(moment(node, _WITHHELD, "pod", HOLD_S), [words])

    def test_a_daemon_that_flaps_is_found_where_the_fault_lasts(self):
        flaps = ((2, 0), (8, _ALL), (9, 0))
        self.assertEqual(moment(Node(flaps), _WITHHELD, "pod", HOLD_S), ["slots are given out again while it lasts"])
        self.assertEqual(moment(Node(flaps), _WITHHELD, "pod", 0.0), [], "only then")

    def test_a_server_that_is_killed_is_told_and_withholds_nothing(self):
        node = Node(struck=(), events=((7, "MpsServerEnded"),))
        self.assertEqual(moment(node, _KILLED, "pod", HOLD_S), [])
        self.assertEqual(moment(Node(struck=(), events=()), _KILLED, "pod", HOLD_S), ["the pod is not told"])

    def test_a_cure_that_fails_is_wrong(self):
        def fails(node):
            raise Failed("MPS has no server within 30 s")
        kind = Kind(_WITHHELD.strike, fails, 9.0, 9.0)
        self.assertEqual(moment(Node(), kind, "pod", 0.0), ["MPS has no server within 30 s"])

    def test_each_kind_has_a_control_of_its_own(self):
        self.assertEqual(set(mps_node.BLINDED), set(mps_node.KINDS))


if __name__ == "__main__":
    unittest.main()
