"""Tests that manifests/ is what the chart renders."""

import tempfile
import unittest
from pathlib import Path

import yaml

from tools import render_manifests


class Manifests(unittest.TestCase):
    def test_they_are_in_step_with_the_chart(self):
        self.assertEqual(render_manifests.differences(render_manifests.render()), [])

    def test_what_differs_is_named(self):
        """The control has a file that was changed by hand, one that is missing, and one too many."""
        with tempfile.TemporaryDirectory() as folder:
            texts = {"a.yaml": "a: 1\n", "b/c.yaml": "c: 1\n"}
            (Path(folder) / "a.yaml").write_text("a: 2\n", encoding="utf-8")
            (Path(folder) / "d.yaml").write_text("d: 1\n", encoding="utf-8")
            self.assertEqual(render_manifests.differences(texts, Path(folder)), ["a.yaml", "b/c.yaml", "d.yaml"])

    def test_nothing_of_helms_is_in_them(self):
        for path, text in render_manifests.render().items():
            self.assertNotIn("helm.sh", text, path)
            self.assertNotIn("managed-by", text, path)

    def test_kustomization_names_all_files(self):
        texts = render_manifests.render()
        listed = yaml.safe_load(texts["kustomization.yaml"])["resources"]
        self.assertEqual(sorted(listed), sorted(texts.keys() - {"kustomization.yaml"}))
        self.assertEqual(listed[0], "namespace.yaml")


if __name__ == "__main__":
    unittest.main()
