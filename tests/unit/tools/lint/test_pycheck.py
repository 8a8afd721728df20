import ast
import contextlib
import io
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools" / "lint"))
import layers  # noqa: E402
import pycheck  # noqa: E402
import tree  # noqa: E402

_OF_BENCHMARKS, _OF_TESTS = "from benchmarks import gate\n\ngate.main()\n", "import tests.x\n\ntests.x.y()\n"


def complaints(path, text):
    with mock.patch.object(tree, "read", lambda _: text):
        return [words for _, words in pycheck.complaints(path)]


class Directions(unittest.TestCase):
    def test_what_is_above_is_not_imported(self):
        for path, text, package in (("testing/cluster/a.py", _OF_BENCHMARKS, "benchmarks"),
                                    ("testing/a.py", _OF_TESTS, "tests"),
                                    ("testing/a.py", "def f():\n    from tools.demo import (\n        x)\n    x()\n",
                                     "tools"),
                                    ("benchmarks/gpu/a.py", _OF_TESTS, "tests"),
                                    ("tests/cluster/test_a.py", _OF_BENCHMARKS, "benchmarks")):
            expected = [f"{path.split('/')[0]} does not import {package} (testing/README.md)"]
            self.assertEqual(complaints(path, text), expected)

    def test_what_is_below_is(self):
        for path, text in (("tests/a.py", "from testing import logs\n\nlogs.x()\n"), ("tests/a.py", _OF_TESTS),
                           ("benchmarks/a.py", _OF_BENCHMARKS), ("tools/a.py", _OF_BENCHMARKS),
                           ("testing/a.py", "import testing.logs\n\ntesting.logs.x()\n"),
                           ("benchmarks/a.py", "# from tests import x\n")):
            self.assertEqual(complaints(path, text), [], path)

    def test_tests_of_benchmarks_and_figures_of_tests_do(self):
        for folder in pycheck.TESTS_OF_BENCHMARKS:
            self.assertEqual(complaints(f"{folder}test_a.py", _OF_BENCHMARKS), [])
        for path in pycheck.FIGURES_OF_TESTS:
            self.assertEqual(complaints(path, _OF_TESTS), [])

    def test_none_of_these_is_there_in_vain(self):
        def imports(path, package):
            return package in dict(map(reversed, pycheck.packages(ast.parse(tree.read(path)))))
        for folder in pycheck.TESTS_OF_BENCHMARKS:
            own = [path for path in tree.files(".py") if path.startswith(folder)]
            self.assertTrue(any(imports(path, "benchmarks") for path in own), folder)
        for path in pycheck.FIGURES_OF_TESTS:
            self.assertTrue(imports(path, "tests"), path)

    def test_folders_of_benchmarks_import_each_other_in_no_circle(self):
        paths = tree.files(".py")
        edges = pycheck.folder_edges(paths)
        self.assertGreater(len(edges), 20)
        self.assertEqual(list(layers.complaints_of_circles(edges, "imports")), [])
        planted, read = "benchmarks/runner/planted.py", tree.read
        text = "from benchmarks.turns import shapes\n"
        with mock.patch.object(tree, "read", lambda path: text if path == planted else read(path)):
            edges = pycheck.folder_edges([*paths, planted])
        ((_, _, words),) = layers.complaints_of_circles(edges, "imports")
        self.assertIn("benchmarks/runner/planted.py:1 imports benchmarks/turns", words, "the control")

    def test_an_import_of_what_is_above_turns_the_lint_red(self):
        """This is the control."""
        for text, status in (("import os\n\nos.sync()\n", 0), (_OF_TESTS, 1)):
            said = io.StringIO()
            with mock.patch.object(tree, "files", lambda *_: ["testing/a.py"]), \
                    mock.patch.object(tree, "read", lambda _, text=text: text), \
                    contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                self.assertEqual(pycheck.main(), status)
            self.assertEqual("testing/a.py:1: testing does not import tests" in said.getvalue(), status == 1)


if __name__ == "__main__":
    unittest.main()
