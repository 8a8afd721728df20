"""Tests that each test of the tree is run."""

import unittest
from pathlib import PurePath
from unittest import mock

from tests.docs import registered
from tests.docs.pages import TREE
from tests.docs.test_failures import wrong_test


class Registered(unittest.TestCase):
    def test_each_test_is_run(self):
        found = registered.tests()
        self.assertGreater(len(found), 250)
        self.assertEqual([name for name in found if registered.runner(name) is None], [])

    def test_who_runs_it(self):
        for name, runner in (("tests/cluster/gangs/test_opposed_gangs.py", "tests/cluster/CMakeLists.txt"),
                             ("tests/docs/test_links.py", "tests/docs/CMakeLists.txt"),
                             ("tests/unit/simgpu/nccl/nccl_wire_test.cc", "tests/unit/simgpu/nccl_tests.cmake"),
                             ("tests/unit/extender/gang/gangs_test.cc", "tests/unit/extender/CMakeLists.txt"),
                             ("tests/unit/benchmarks/turns/test_drawn.py", "tests/unit/CMakeLists.txt"),
                             ("tests/unit/tools/lint/test_words.py", "tests/unit/CMakeLists.txt"),
                             ("tests/frameworks/test_torch.py", "Makefile"),
                             ("tests/charts/alerts_test.yaml", "tests/charts/test_monitoring.py")):
            self.assertEqual(registered.runner(name), runner, name)

    def test_unit_tests_mirror_the_sources(self):
        """A unit test lies in the folder that its source has, below tests/unit."""
        folders = {str(PurePath(*PurePath(name).parts[2:-1])) for name in registered.tests()
                   if name.startswith("tests/unit/")}
        self.assertGreater(len(folders), 60)
        self.assertEqual([folder for folder in sorted(folders) if not (TREE / folder).is_dir()], [])

    def test_one_that_nothing_runs_is_found(self):
        """The control removes a test's line from its list. The names of other tests begin or end like it."""
        lists = "cluster_test(test_opposed_gangs)\nnode_test(node/health_test.cc)\nfile(GLOB all RELATIVE x *.py)"
        without = lists.partition("file(")[0]
        for text, name, known in ((lists, "t/test_opposed.py", True), (without, "t/test_opposed.py", False),
                                  (without, "t/test_opposed_gangs.py", True), (without, "t/node/health_test.cc", True),
                                  (lists, "t/health_test.cc", False), (lists, "t/node/test_opposed.py", False)):
            self.assertEqual(registered.named(text, name, "t"), known, name)
        with mock.patch.object(registered, "_text", lambda file: ""):
            self.assertEqual(wrong_test("tests/cluster/gangs/test_opposed_gangs.py"),
                             "nothing runs tests/cluster/gangs/test_opposed_gangs.py")


if __name__ == "__main__":
    unittest.main()
