import unittest
from unittest import mock

from benchmarks.quality import shrink_bits
from benchmarks.runner.context import Context
from testing import programs


class OfProgram(unittest.TestCase):
    def line(self, case, value, bad):
        said = [{"value": value, "bad": {"one": bad, "another": 1e9}}]
        with mock.patch.object(programs, "json_lines", lambda *_: said):
            (line,) = shrink_bits.measure(Context(mock.Mock()), case)
        return line

    def test_the_codec_and_each_bad_one_are_judged_by_one_goal(self):
        self.assertTrue(self.line("bias", 0.041, 0.5).ok)
        self.assertFalse(self.line("bias", 0.5, 0.5).ok)
        self.assertFalse(self.line("bias", 0.041, 0.041).ok, "a control that is good proves nothing")
        self.assertTrue(self.line("scale", 0, 1).ok)
        self.assertFalse(self.line("scale", 1, 1).ok)


class OfImages(unittest.TestCase):
    def test_results_that_are_plain_do_not_count(self):
        lines = ("init 0", "sum narrow 0", "few plain 0", "average other 0", "small right 0", "captured plain 0",
                 "bits 17", "destroy 0")
        self.assertEqual(shrink_bits.words_of(lines), ["narrow", "other"])

    def line(self, differing):
        """`differing` has how many results differ, by the image."""
        def others(_context, _scenario, image, _level):
            return differing[image], 20

        with mock.patch.object(shrink_bits, "_others", others):
            (line,) = shrink_bits.measure(Context(mock.Mock(), say=lambda text: None), "image")
        return line

    def test_each_bad_image_has_to_be_seen(self):
        good = {"host_kernels": 0, "keeps_sum": 6, "loses_nan": 6}
        self.assertTrue(self.line(good).ok)
        self.assertEqual(len(self.line(good).controls), 2)
        for change in ({"host_kernels": 1}, {"keeps_sum": 0}, {"loses_nan": 0}):
            self.assertFalse(self.line(good | change).ok, change)


if __name__ == "__main__":
    unittest.main()
