import unittest

from testing.cluster import gang_churn
from testing.processes import Failed


class Growth(unittest.TestCase):
    def test_what_grows_before_it_is_warm_does_not_count(self):
        looks = [(n, 50.0 if n > 300 else n / 6) for n in range(10, 910, 10)]
        self.assertEqual(gang_churn.growth(looks), 0.0)

    def test_a_leak_does(self):
        looks = [(n, 50.0 + 2.0 * n / 1000) for n in range(10, 910, 10)]
        self.assertAlmostEqual(gang_churn.growth(looks), 2.0)

    def test_one_look_that_is_off_does_not(self):
        looks = [(n, 500.0 if n == 900 else 50.0) for n in range(10, 910, 10)]
        self.assertEqual(gang_churn.growth(looks), 0.0)

    def test_too_few_are_no_figure(self):
        with self.assertRaises(Failed):
            gang_churn.growth([(10, 1.0), (20, 1.0)])


if __name__ == "__main__":
    unittest.main()
