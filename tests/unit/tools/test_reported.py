"""Tests that each reported fault has a case whose tests exist, or a reason why it has none."""

import re
import unittest
from pathlib import Path

from benchmarks import reported

_TREE = Path(__file__).resolve().parents[3]


def lacking(case):
    """Returns the tests of a case of tests/cluster that no file has."""
    module, name = case.group.split(":")
    text = (_TREE / f"tests/cluster/{module}.py").read_text(encoding="utf-8")
    found = set(re.findall(r"def (test_\w+)\(", text)) if re.search(rf"^class {name}\(", text, re.MULTILINE) else set()
    return [test for test in (*case.tests, *case.was) if test not in found]


class Reported(unittest.TestCase):
    live = [case for case in reported.CASES.values() if case.place == reported.CLUSTER]

    def test_each_finding_has_a_case_or_a_reason(self):
        with_case = {case.finding for case in reported.CASES.values()}
        self.assertEqual(with_case | set(reported.ELSEWHERE), set(range(1, 23)))
        self.assertEqual(with_case & set(reported.ELSEWHERE), set())

    def test_there_are_enough_and_most_are_live(self):
        self.assertGreaterEqual(len(reported.CASES), 30)
        self.assertGreaterEqual(len(self.live), 20)

    def test_their_tests_exist(self):
        self.assertEqual({case.name: lacking(case) for case in self.live if lacking(case)}, {})
        other = reported.Case(1, "other", reported.CLUSTER, "test_mps:Mps", ("test_of_none",))
        self.assertEqual(lacking(other), ["test_of_none"], "the control")

    def test_each_kind_of_owner_is_one(self):
        text = (_TREE / "tests/unit/extender/gang/owner_samples.cc").read_text(encoding="utf-8")
        kinds = set(re.findall(r'\.name = "([A-Z]\w+)"|Kubeflow\("(\w+)"', text))
        for kind in {one or two for one, two in kinds}:
            self.assertTrue(any(name.startswith(f"owner_{kind}") for name in reported.CASES), kind)


if __name__ == "__main__":
    unittest.main()
