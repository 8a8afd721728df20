"""Tests that a sketch tells how far code has moved on as the code itself does."""

import random
import unittest
from collections import Counter

from benchmarks.runner import moved_on, sketch


def changed(lines, part, rng):
    """Returns lines of which a part has other words."""
    return Counter(f"{line}?" if rng.random() < part else line for line in lines.elements())


class Sketch(unittest.TestCase):
    def test_few_lines_are_told_exactly(self):
        before = Counter(f"Compute({number});" for number in range(50))
        before["}"] = 30
        fewer = Counter(list(before.elements())[:60])
        for after in (before, before + Counter(["More();"] * 20), fewer, Counter(["}"])):
            self.assertAlmostEqual(sketch.part_changed(sketch.of(before), after), moved_on.part_changed(before, after))

    def test_an_estimate_is_near_the_part_that_changed(self):
        """The standard error is 0.02 at a tenth. One of four times that would be a fault."""
        rng, errors = random.Random(7), []
        for trial in range(50):
            before = Counter(f"{trial}: Compute({number});" for number in range(5000))
            after = changed(before, 0.1, rng)
            errors.append(sketch.part_changed(sketch.of(before), after) - moved_on.part_changed(before, after))
        self.assertLess(abs(sum(errors) / len(errors)), 0.01, "it favours no side")
        self.assertLess(max(map(abs, errors)), 0.08)

    def test_other_code_is_far(self):
        before = Counter(f"Compute({number});" for number in range(5000))
        self.assertGreater(sketch.part_changed(sketch.of(before), changed(before, 0.5, random.Random(7))), 0.3)
        self.assertEqual(sketch.part_changed(sketch.of(before), Counter(f"Other({n});" for n in range(5000))), 1)

    def test_no_code_has_not_changed(self):
        self.assertEqual(sketch.part_changed(sketch.of(Counter()), Counter()), 0)

    def test_what_is_no_sketch_is_refused(self):
        good = sketch.of(Counter(f"Compute({number});" for number in range(500)))
        for spoilt in (None, {}, {**good, "smallest": "?"}, {**good, "smallest": "QQ=="}, {**good, "lines": "many"},
                       {**good, "smallest": ""}):
            with self.assertRaisesRegex(ValueError, "^code: expected "):
                sketch.part_changed(spoilt, Counter())


if __name__ == "__main__":
    unittest.main()
