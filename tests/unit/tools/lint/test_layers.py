import contextlib
import io
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools" / "lint"))
import layers  # noqa: E402
import tree  # noqa: E402

_A, _B, _C = "deviceplugin/a", "deviceplugin/b", "deviceplugin/c"


class Circles(unittest.TestCase):
    def test_folders_in_one_direction_have_none(self):
        self.assertEqual(layers.circles([(_A, _B), (_B, _C), (_A, _C)]), [])

    def test_two_and_three_folders_that_include_each_other_are_one_circle_each(self):
        self.assertEqual(layers.circles([(_A, _B), (_B, _A), (_C, _A)]), [[_A, _B]])
        self.assertEqual(layers.circles([(_A, _B), (_B, _C), (_C, _A), ("cli/x", _A)]), [[_A, _B, _C]])
        self.assertEqual(layers.circles([(_A, _B), (_B, _A), ("cli/x", "cli/y"), ("cli/y", "cli/x")]),
                         [["cli/x", "cli/y"], [_A, _B]])

    def test_the_tree_has_none(self):
        self.assertEqual(layers.circles(layers.folder_edges(tree.files(".h", ".cc"))), [])

    def test_an_include_that_closes_a_circle_turns_the_lint_red(self):
        """This is the control. A header at the bottom, in common/base, includes one of common/kube."""
        real = tree.includes
        planted = "common/base/names.h"

        def includes(path):
            return real(path) + ([('"', "common/kube/slots.h", 7)] if path == planted else [])

        said = io.StringIO()
        with mock.patch.object(tree, "includes", includes), contextlib.redirect_stderr(said):
            edges = layers.folder_edges(tree.files(".h", ".cc"))
            self.assertEqual(list(layers.complaints_of_circles(edges, "includes"))[0][0], "common/base")
            self.assertEqual(layers.main(), 1)
        self.assertIn("expected no circle of folders, got common/base, common/kube, ", said.getvalue())
        self.assertIn("common/base/names.h:7 includes common/kube", said.getvalue())


if __name__ == "__main__":
    unittest.main()
