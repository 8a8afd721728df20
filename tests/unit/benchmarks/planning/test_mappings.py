"""Tests the figure mapping's own costs and enumeration."""

import random
import unittest

from benchmarks.planning import mappings
from benchmarks.planning.mappings import Gang

_SPEEDS = {(0, 0): 1.0, (0, 1): 2.0, (1, 0): 1.0, (1, 1): 1.0, (1, 2): 1.0}


class Costs(unittest.TestCase):
    gang = Gang(((0, 1, 10), (1, 0, 4), (0, 2, 5), (2, 2, 99)), ((0, 0), (0, 1), (1, 2)), _SPEEDS, (1, 1, 3),
                (1.0, 1.0, 2.0))

    def test_the_busier_direction_of_the_busiest_uplink_counts(self):
        self.assertEqual(mappings.cost(self.gang, (0, 1, 2)), (1.5, 5.0, 15.0))
        self.assertEqual(mappings.cost(self.gang, (0, 2, 1)), (3.0, 10.0, 15.0))

    def test_a_case_for_the_program_has_all_of_it(self):
        text = self.gang.text()
        self.assertEqual(text["domains"], [[0, 0, 1], [0, 1, 2]])
        self.assertEqual(text["speeds"], [[1.0, 2.0], [1.0, 1.0, 1.0]])


class AllMappings(unittest.TestCase):
    def test_seats_that_are_alike_count_once(self):
        gang = Gang((), ((0,), (0,), (1,)), {}, (1, 1, 1), (1.0, 1.0, 1.0))
        self.assertEqual(sorted(mappings.all_mappings(gang)), [(0, 1, 2), (0, 2, 1), (2, 0, 1)])

    def test_of_different_seats_all_orders_are_tried(self):
        gang = Gang((), ((0,), (1,), (2,), (3,)), {}, (1,) * 4, (1.0,) * 4)
        self.assertEqual(len(set(mappings.all_mappings(gang))), 24)

    def test_a_drawn_gang_is_whole(self):
        draw = random.Random(1)
        for pods in (2, 5, 8, 30):
            for shuffled in (False, True):
                gang = mappings.drawn(draw, pods, shuffled)
                self.assertEqual((len(gang.compute), len(gang.seat_speeds), gang.pods), (pods,) * 3)
                mappings.cost(gang, range(pods))
                self.assertTrue(all(len(of) == max(gang.text()["domains"][level]) + 1
                                    for level, of in enumerate(gang.text()["speeds"])))


if __name__ == "__main__":
    unittest.main()
