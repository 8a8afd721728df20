"""Tests that the extenders' memory does not grow with the number of gangs that have come and gone."""

import unittest

from tests.cluster.gangs import test_churn


class LongChurn(test_churn.Churn):
    def test_no_object_is_left_of_gangs(self):
        # The first certificates and leaders cost memory once. A run with ten times as many gangs shows that this growth
        # ends.
        self.assertLess(self.play(1500, 3).growth, 3.0, "MiB per 1,000 gangs")


if __name__ == "__main__":
    unittest.main()
