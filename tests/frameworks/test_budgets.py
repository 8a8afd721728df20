"""Tests that a program of PyTorch with a memory budget sees what it would see on a GPU of that size."""

import unittest

from testing.frameworks import budgets, software_gpu as gpu

_BUDGET_MIB = 301  # no multiple of a page


class Budgets(unittest.TestCase):

    def assert_as_on_a_gpu_of_that_size(self, allocator):
        gpu.require(self)
        expected = budgets.on_a_gpu_of(_BUDGET_MIB, allocator)
        self.assertEqual(expected["filled.total"], _BUDGET_MIB << 20)
        self.assertLess(expected["filled.free"], budgets.PAGE_MIB << 20)
        self.assertEqual(budgets.differences(budgets.with_a_budget_of(_BUDGET_MIB, allocator), expected), [])

    def test_caching(self):
        self.assert_as_on_a_gpu_of_that_size("caching")

    def test_expandable_segments(self):
        self.assert_as_on_a_gpu_of_that_size("expandable_segments")

    def test_cuda_malloc_async(self):
        self.assert_as_on_a_gpu_of_that_size("cuda_malloc_async")


class Differences(unittest.TestCase):

    def test_they_name_what_differs(self):
        self.assertEqual(budgets.differences({"free": 1, "total": 2}, {"free": 1, "total": 2}), [])
        self.assertEqual(budgets.differences({"free": 1, "total": 2}, {"free": 0, "given_up": 2}),
                         ["free: expected 0, got 1", "given_up: expected 2, got None",
                          "total: expected None, got 2"])


if __name__ == "__main__":
    unittest.main()
