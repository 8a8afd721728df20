"""Tests what traces tell of killed clients, and what `crossover top` says of a daemon that was started again."""

import copy
import unittest

from benchmarks.faults import arbiter_kills, rank_kills
from benchmarks.faults.rank_kills import Kill
from testing import wire
from testing.logs import TraceEvent
from testing.machine import Machine

MS = 1_000_000
SLOTS = {"alpha": 0, "beta": 1}


def trace(*events):
    return [TraceEvent(round(at * MS), "gpu", SLOTS[gang], gang, *event.split()) for at, gang, event in events]


class HandOvers(unittest.TestCase):
    def found(self, events, at):
        return list(rank_kills.hand_overs(trace(*events), [Kill(round(at * MS), "gpu", "beta")]))

    def test_counts_from_the_kill_of_a_holder(self):
        events = [(0, "beta", "arrive"), (1, "beta", "hold"), (2, "alpha", "arrive"), (5.5, "alpha", "hold")]
        self.assertEqual(self.found(events, 5), [0.5])

    def test_counts_from_when_the_next_was_ready(self):
        events = [(1, "beta", "hold"), (9, "alpha", "arrive"), (9.25, "alpha", "hold")]
        self.assertEqual(self.found(events, 5), [0.25])

    def test_a_kill_of_one_that_did_not_hold_tells_nothing(self):
        events = [(1, "beta", "hold"), (2, "beta", "release"), (3, "alpha", "hold"), (9, "alpha", "arrive"),
                  (9.5, "alpha", "hold")]
        self.assertEqual(self.found(events, 5), [])

    def test_the_last_one_left_takes_no_turns(self):
        events = [(1, "beta", "hold"), (2, "alpha", "arrive"), (5.25, "beta", "leave"), (5.25, "alpha", "mode observe"),
                  (50, "alpha", "arrive"), (57, "alpha", "hold")]
        self.assertEqual(self.found(events, 5), [0.25])
        del events[1]
        self.assertEqual(self.found(events, 5), [])

    def test_no_ready_pod_tells_nothing(self):
        self.assertEqual(self.found([(1, "beta", "hold"), (2000, "alpha", "hold")], 5), [])


class States(unittest.TestCase):
    def found(self, *events, gates="gpu"):
        return list(rank_kills.states(trace(*events), [Kill(5 * MS, "gpu", "beta", gates)]))

    def test_the_last_event_before_the_kill_counts(self):
        held = [(1, "beta", "arrive"), (2, "beta", "hold"), (6, "beta", "leave")]
        self.assertEqual(self.found(*held), [rank_kills.HOLDS])
        self.assertEqual(self.found(*held[:1], (4, "alpha", "hold"), (6, "beta", "hold")), [rank_kills.WAITS_AT_A_GATE])
        self.assertEqual(self.found(*held[:1], gates="ipc"), [rank_kills.WAITS_FOR_A_SIGNAL])
        self.assertEqual(self.found(*held[:2], (3, "beta", "release")), [rank_kills.OUTSIDE])

    def test_a_client_that_has_never_asked_is_outside(self):
        self.assertEqual(self.found((1, "alpha", "arrive")), [rank_kills.OUTSIDE])


class FalseDeaths(unittest.TestCase):
    killed = [Kill(5 * MS, "another gpu", "beta")]

    def count(self, *events):
        return rank_kills.false_deaths(trace(*events), self.killed, 100 * MS)

    def test_a_job_that_lost_a_rank_may_lose_all(self):
        self.assertEqual(self.count((1, "beta", "join"), (6, "beta", "leave")), 0)

    def test_it_was_not_killed(self):
        self.assertEqual(self.count((1, "beta", "join"), (4, "beta", "leave")), 1)
        self.assertEqual(self.count((1, "beta", "join"), (6, "beta", "leave"), (7, "beta", "join"),
                                    (8, "beta", "leave")), 1)

    def test_the_survivor_leaves_at_its_end(self):
        self.assertEqual(self.count((1, "alpha", "join"), (101, "alpha", "leave")), 0)
        self.assertEqual(self.count((1, "alpha", "join"), (99, "alpha", "leave")), 1)


class Books(unittest.TestCase):
    machine = Machine()

    def top(self):
        def client(gang, rank):
            return {"gang": gang, "rank": rank, "gpu_uuid": self.machine.uuid(0, rank), "phase": "taking",
                    "offender": False, "turns": 3, "connected_s": 0.5}

        gpus = [{"uuid": self.machine.uuid(0, gpu), "holders": ["alpha"], "offenders": [], "clients": 2,
                 "watchdog_openings": 0} for gpu in (0, 1)]
        return {"daemon": {"uptime_s": 1.0}, "gpus": gpus,
                "jobs": [{"gang": gang, "clients": [client(gang, rank) for rank in (0, 1)]}
                         for gang in ("alpha", "beta")]}

    def test_right_books(self):
        self.assertEqual(arbiter_kills.wrong_in_books(self.top(), self.machine, 0), [])

    def test_of_another_node(self):
        self.assertTrue(arbiter_kills.wrong_in_books(self.top(), self.machine, 1))

    def test_whatever_is_wrong_is_seen(self):
        def ghost(top):
            top["jobs"][0]["clients"].append(top["jobs"][0]["clients"][0])

        def missing(top):
            top["jobs"].pop()

        def remembers(top):
            top["jobs"][0]["clients"][0]["connected_s"] = 60.0

        def without_turns(top):
            top["jobs"][1]["clients"][1]["turns"] = 0

        def two_holders(top):
            top["gpus"][0]["holders"] = ["alpha", "beta"]

        for spoil in (ghost, missing, remembers, without_turns, two_holders):
            top = copy.deepcopy(self.top())
            spoil(top)
            self.assertTrue(arbiter_kills.wrong_in_books(top, self.machine, 0), spoil.__name__)


class Turns(unittest.TestCase):
    def test_the_next_turn_begins_with_its_first_stretch(self):
        self.assertEqual(wire.next_turn(5 << 10 | 3), 6 << 10)
        self.assertEqual(wire.next_turn(0xffffffff), 0)

    def test_numbers_are_compared_cyclically(self):
        self.assertTrue(wire.at_or_past(5, 5))
        self.assertFalse(wire.at_or_past(4, 5))
        self.assertTrue(wire.at_or_past(2, 0xffffffff))


if __name__ == "__main__":
    unittest.main()
