import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from testing.cluster.rig import versions
from tools import matrix

_ALL = len(matrix.TESTS)
_ALL_PASSED = f": passed ({_ALL} of {_ALL}, "


class Matrix(unittest.TestCase):
    def run_with(self, *arguments, failing=()):
        """Returns (exit code, what it said, the combinations that it took), where some (combination, test) fail."""
        taken = []

        def run_tests(_build, combination, names):
            taken.append((combination.kubernetes, combination.containerd))
            return {name: (taken[-1], name) not in failing for name in names}
        with mock.patch.object(matrix, "run_tests", run_tests), contextlib.redirect_stdout(io.StringIO()) as said:
            code = matrix.main(arguments)
        return code, said.getvalue(), taken

    def test_takes_each_version_beside_the_default_of_the_other(self):
        code, said, taken = self.run_with()
        self.assertEqual(code, 0)
        kube, containerd = versions.default("kube"), versions.default("containerd")
        self.assertEqual(len(taken), 3)
        self.assertNotIn((kube, containerd), taken, "which is what the other tests run on")
        self.assertTrue(all(kube == k or containerd == c for k, c in taken), taken)
        self.assertEqual(said.count(_ALL_PASSED), 2)
        self.assertIn(f", containerd 1.6: passed ({_ALL - 8} of {_ALL - 8}, ", said, "without CDI and the VM")

    def test_names_every_test_that_failed_and_fails(self):
        bad = ("1.31.0", versions.default("containerd"))
        code, said, taken = self.run_with(failing=[(bad, "cluster.test_node"), (bad, "cluster.test_chain")])
        self.assertEqual((code, len(taken)), (1, 3), "the others are taken all the same")
        self.assertIn(f"matrix: Kubernetes 1.31.0, containerd {bad[1]}: FAILED: cluster.test_node, cluster.test_chain "
                      f"({_ALL - 2} of {_ALL}, ", said)
        self.assertEqual(said.count(_ALL_PASSED), 1)

    def test_only_takes_those_of_a_version(self):
        self.assertEqual(self.run_with("--only", "1.31")[2], [("1.31.0", versions.default("containerd"))])
        self.assertEqual(self.run_with("--only", "1.6")[2], [(versions.default("kube"), "1.6")])
        with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit) as end:
            matrix.main(["--only", "1.3"])
        self.assertEqual(end.exception.code, 2)
        self.assertIn("--only: expected one of Kubernetes 1.34.4, containerd ", errors.getvalue())


class Report(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.report = Path(directory.name) / "report.xml"

    def write(self, **states):
        cases = "".join(f'<testcase name="cluster.{name}" status="{state}"/>' for name, state in states.items())
        self.report.write_text(f"<testsuite>{cases}</testsuite>", encoding="utf-8")

    def test_those_that_ran_have_passed_and_no_others(self):
        self.write(test_rig="run", test_node="fail", test_mps="notrun", test_owner="disabled")
        self.assertEqual([name for name, good in matrix.passed(self.report).items() if good], ["cluster.test_rig"])

    def test_without_a_report_nothing_has_passed(self):
        self.assertEqual(matrix.passed(self.report), dict.fromkeys(matrix.TESTS, False))


class Versions(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        (Path(directory.name) / "kube-1.31.7").mkdir()  # as a user may have had it made
        patch = mock.patch.dict("os.environ", {"CROSSOVER_CACHE": directory.name})
        patch.start()
        self.addCleanup(patch.stop)

    def test_are_known_by_their_beginning(self):
        self.assertEqual((versions.kubernetes("1.31"), versions.kubernetes("1.31.0")), ("1.31.0", "1.31.0"))
        self.assertEqual(versions.containerd("1.6"), "1.6")
        with mock.patch.dict("os.environ", {"KUBE_VERSION": "1.34"}):
            self.assertEqual(versions.kubernetes(), "1.34.4")
            self.assertEqual(versions.kubernetes("1.31"), "1.31.0", "the argument goes first")
        self.assertEqual(versions.kubernetes("1.31.7"), "1.31.7")

    def test_others_are_refused_with_what_is_allowed(self):
        for wanted in ("1.3", "1.31.", "1.99", "latest"):
            with self.subTest(wanted), self.assertRaises(versions.Refused) as refusal:
                versions.kubernetes(wanted)
            self.assertRegex(str(refusal.exception),
                             rf"KUBE_VERSION: expected one of .*1\.34\.4, .*1\.31\.0.*, got {re.escape(wanted)};")

    def test_the_default_is_one_of_them(self):
        for name in ("kube", "containerd"):
            self.assertIn(versions.default(name), versions.pinned(name))

    def test_containerd_has_cdi_from_2_on(self):
        self.assertEqual([versions.has_cdi(version) for version in ("1.6", "1.6.20", "2.3.7")], [False, False, True])


if __name__ == "__main__":
    unittest.main()
