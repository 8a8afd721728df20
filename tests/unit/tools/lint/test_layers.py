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


class Shrink(unittest.TestCase):
    """Shrink is in a library of its own. Nothing else of the product includes it."""

    _HEADER = "shrink/codec/q8.h"

    def complaints(self, planted, header):
        real = tree.includes

        def includes(path):
            return real(path) + ([('"', header, 7)] if path == planted else [])

        with mock.patch.object(tree, "includes", includes):
            return [text for _, text in layers.check_includes(planted)]

    def test_no_file_of_the_product_outside_includes_it(self):
        users = [path for path in tree.files(".h", ".cc", ".c", ".S") for _, name, _ in tree.includes(path)
                 if name.startswith("shrink/") and path.startswith(layers.PRODUCT)]
        self.assertTrue(users)
        self.assertEqual([path for path in users if not path.startswith("shrink/")], [])

    def test_a_planted_include_turns_the_lint_red_in_every_folder_of_the_product(self):
        """This is the control."""
        for folder in layers.PRODUCT:
            if folder != "shrink/":
                with self.subTest(folder=folder):
                    planted = next(path for path in tree.files(".h", ".cc") if path.startswith(folder))
                    said = self.complaints(planted, self._HEADER)
                    self.assertEqual(len(said), 1)
                    self.assertIn(f"may not include {self._HEADER}: only ", said[0])

    def test_of_the_examples_only_the_reductions_include_the_codecs_alone(self):
        for planted, header, count in (("examples/reductions/topk.cc", self._HEADER, 0),
                                       ("examples/reductions/topk.cc", "shrink/vote/phases.h", 1),
                                       ("examples/reductions/topk.cc", "examples/trainer/gpu.h", 1),
                                       ("examples/trainer/trainer.cc", self._HEADER, 1)):
            with self.subTest(planted=planted, header=header):
                self.assertEqual(len(self.complaints(planted, header)), count)

    def test_it_includes_nothing_but_the_lowest_folders(self):
        for header, count in (("common/base/names.h", 0), ("proto/turnstile.h", 0), ("turn/ops.h", 1),
                              ("sidecar/CMakeLists.txt", 1), ("common/kube/slots.h", 1)):
            with self.subTest(header=header):
                self.assertEqual(len(self.complaints(self._HEADER, header)), count)


if __name__ == "__main__":
    unittest.main()
