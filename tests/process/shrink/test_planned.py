"""Tests jobs whose all-reduces have bits that follow the values. The oracle in the ranks chooses bits as record 0077
says, from the values of all ranks, and has the results bit for bit."""

import tempfile
import unittest

from testing.shrink import wire
from testing.shrink.job import Job, RankSettings
from tests.process.shrink import test_library

BUILD, EXPECTED = test_library.BUILD, test_library.Narrowed.EXPECTED

_SHAPES = ((0, 1), (0, 1, 2), (0, 0, 1, 1))
_TWO_CHANGES = "plans235"  # behind 131 and 231 calls
_COUNT = 70_001  # elements of each of these calls


def ended(nodes, scenario, *rank_settings, **environment):
    """Returns how the ranks of a job ended. `rank_settings` are those of the first ranks; others have `environment`."""
    with tempfile.TemporaryDirectory() as folder, Job(BUILD, folder, len(nodes), scenario, nodes) as job:
        for rank in range(len(nodes)):
            default = RankSettings(shrink="adaptive", environment=environment)
            job.start(rank, rank_settings[rank] if rank < len(rank_settings) else default)
        return job.wait()


def plans(end):
    """Returns the plans of a rank in their order, each as the bits of all places."""
    return [line.split()[1:] for line in end.lines if line.startswith("plan ")]


def image(name):
    return {"CROSSOVER_SHRINK_IMAGE": str(BUILD.top / f"tests/process/shrink/{name}.image")}


class Planned(unittest.TestCase):
    def test_what_is_narrowed(self):
        for nodes in _SHAPES:
            for end in ended(nodes, "kinds").values():
                with self.subTest(nodes):
                    self.assertEqual(tuple(end.lines), EXPECTED)

    def test_each_call_is_bit_for_bit_that_of_the_oracle_while_plans_change(self):
        for nodes in _SHAPES:
            with self.subTest(nodes):
                each = ended(nodes, _TWO_CHANGES)
                for end in each.values():
                    self.assertEqual((end.code, end.sums()), (0, {"narrow"}), end.errors)
                    self.assertEqual(len([line for line in end.lines if line == "sum narrow 0"]), 235)
                self.assertEqual(len({str(plans(end)) for end in each.values()}), 1)
                first, second, third = plans(each[0])
                self.assertEqual(set("".join(first)), {"8"})
                for plan in (second, third):
                    self.assertGreater(len(set("".join(plan))), 2, plan)
                self.assertNotEqual(second, third)

    def test_its_bytes_are_those_of_the_formula_with_the_bits_of_the_plan(self):
        for nodes in _SHAPES:
            with self.subTest(nodes):
                shape = max(nodes) + 1, nodes.count(0)
                _, plan = plans(ended(nodes, "plans133")[0])
                counted = wire.counted(BUILD, nodes, RankSettings(shrink="adaptive"), ("plans133", "plans135"))
                self.assertEqual(counted, wire.planned_formula(_COUNT, *shape, plan))
                uniform = wire.planned_formula(_COUNT, *shape, ["8" * len(bits) for bits in plan])
                self.assertEqual(uniform, wire.formula(_COUNT, *shape))
                self.assertLess(sum(counted[0]), 0.7 * sum(uniform[0]))

    def test_a_larger_error_takes_fewer_bits(self):
        bits = {}
        for percent in ("10", "100", "1000"):
            end = ended((0, 1), "plans133", CROSSOVER_SHRINK_ERROR=percent)[0]
            self.assertEqual(end.sums(), {"narrow"}, end)
            bits[percent] = sum(map(int, "".join(plans(end)[1])))
        self.assertGreater(bits["10"], bits["100"])
        self.assertGreater(bits["100"], bits["1000"])

    def test_an_owner_that_says_other_errors_is_seen(self):
        """This is a control: all ranks take the bits that follow from what it says, and the oracle does not."""
        lies = RankSettings(shrink="adaptive", environment={**image("says_other_errors"), "SHRINK_TEST_LIES": "1"})
        for end in ended((0, 1), "plans133", lies, lies).values():
            self.assertIn("sum other 0", end.lines)
            self.assertEqual(end.lines[:132].count("sum narrow 0"), 131)

    def test_a_rank_that_hears_other_errors_is_seen(self):
        """This is a control: its bits differ from those of the others, which the software NCCL sees."""
        lies = RankSettings(shrink="adaptive", environment={**image("hears_other_errors"), "SHRINK_TEST_LIES": "1"})
        each = ended((0, 1), "plans133", lies)
        self.assertTrue(any(end.code != 0 for end in each.values()), each)
        self.assertTrue(any(line.count(" called ") == 2 for end in each.values() for line in end.errors.splitlines()),
                        [end.errors for end in each.values()])

    def test_more_counts_than_plans_have_8_bits_and_one_warning(self):
        for counts, warned in ((64, 0), (66, 1)):  # the first one is the control
            for end in ended((0, 1), f"counts{counts}").values():
                self.assertEqual((end.code, end.sums()), (0, {"narrow"}), end)
                said = end.errors.count("adaptive: expected at most 64 counts and 256 nodes, got more")
                self.assertEqual(said, warned)

    def test_in_front_of_the_library_of_turns(self):
        settings = RankSettings(file="both", shrink="adaptive",
                                environment={"CROSSOVER_GANG": "a", "CROSSOVER_GANG_SIZE": "2"})
        for end in ended((0, 0, 1, 1), "kinds", *[settings] * 4).values():
            self.assertEqual(tuple(end.lines), EXPECTED)


if __name__ == "__main__":
    unittest.main()
