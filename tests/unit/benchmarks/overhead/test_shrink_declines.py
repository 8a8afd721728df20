import unittest
from unittest import mock

from benchmarks.overhead import shrink_declines
from benchmarks.runner.context import Context
from testing.shrink import calls


class Compared(unittest.TestCase):
    PLAIN = ["all_reduce float32 100", "all_reduce int32 1", "kernels 2", "received 404 bytes"]

    def test_a_call_in_front_is_added_and_totals_do_not_count(self):
        asked = ["all_gather uint8 40", *self.PLAIN[:2], "kernels 3", "received 484 bytes"]
        self.assertEqual(shrink_declines.compared(self.PLAIN, asked), (0, 1))
        self.assertEqual(shrink_declines.compared(self.PLAIN, self.PLAIN), (0, 0))

    def test_another_type_order_or_number_is_a_change(self):
        first, second, *totals = self.PLAIN
        for asked in (["all_reduce bfloat16 100", second, *totals], [second, first, *totals], [first, *totals], totals,
                      [first, "all_gather uint8 40", second, *totals], [*self.PLAIN, second]):
            self.assertGreater(shrink_declines.compared(self.PLAIN, asked)[0], 0, asked)


class Cases(unittest.TestCase):
    def line(self, declines):
        """Returns what is measured of a library that declines, or that narrows wherever it is asked to."""
        def of_job(_build, settings, nodes=(0, 0)):
            narrows = settings.shrink == "bf16" and settings.file != "none" or (
                settings.shrink == "q8" and not (declines and nodes in ((0, 0), (0, 0, 1), (0, 1, 0, 1))))
            return {rank: ["reduce float32 512" if narrows else "all_reduce float32 100", "kernels 1"]
                    for rank, _ in enumerate(nodes)}

        with mock.patch.object(calls, "of_job", of_job):
            return [next(shrink_declines.measure(Context(None, say=lambda text: None), case))
                    for case in shrink_declines.CASES]

    def test_a_library_that_declines_is_good(self):
        lines = self.line(declines=True)
        self.assertEqual([(line.value, line.ok) for line in lines], [(0, True)] * 3)
        self.assertEqual(lines[0].remarks, {"added_while_made": 0, "changed_by_bf16": 4})

    def test_one_that_does_not_is_not(self):
        self.assertEqual([(line.value > 0, line.ok) for line in self.line(declines=False)], [(True, False)] * 3)


if __name__ == "__main__":
    unittest.main()
