import unittest

from testing import stats


class Stats(unittest.TestCase):
    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)

    def test_percentile_is_a_value_that_was_seen(self):
        values = list(range(1, 101))
        self.assertEqual(stats.percentile(values, 99), 99)
        self.assertEqual(stats.percentile(values, 100), 100)
        self.assertEqual(stats.percentile(values, 0), 1)
        self.assertEqual(stats.percentile([5], 50), 5)

    def test_spread_ignores_one_outlier(self):
        self.assertEqual(stats.median_absolute_deviation([1, 1, 2, 2, 1000]), 1)

    def test_a_trimmed_mean_does_not_see_outliers(self):
        values = [-1000.0, *(float(i) for i in range(1, 10)), 1000.0]
        self.assertEqual(stats.trimmed_mean(values, 0.1), 5)
        self.assertEqual(stats.trimmed_mean([1.0, 3.0], 0), 2)

    def test_its_error_is_that_of_the_mean_where_nothing_is_trimmed(self):
        values = [1.0, 2.0, 3.0, 4.0]
        self.assertAlmostEqual(stats.trimmed_error(values, 0), (5 / 3 / 4) ** 0.5)
        outlier = [*values * 5, 1e9]
        self.assertLess(stats.trimmed_error(outlier, 0.2), 1)

    def test_a_share_that_leaves_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "0.5"):
            stats.trimmed_mean([1, 2], 0.5)
        with self.assertRaisesRegex(ValueError, "expected 2"):
            stats.trimmed_error([1.0], 0.1)

    def test_nothing_is_refused(self):
        for function in (stats.median, stats.mean, lambda v: stats.percentile(v, 50)):
            with self.assertRaisesRegex(ValueError, "no values"):
                function([])

    def test_percent_out_of_range_is_refused(self):
        with self.assertRaisesRegex(ValueError, "101"):
            stats.percentile([1], 101)


if __name__ == "__main__":
    unittest.main()
