"""Tests the chart and the documentation as they are released."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing import rendering
from testing.chart import TREE
from tools import package_chart

_REPOSITORY, _MACHINE = "registry.example:5000/team", "x86_64"


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_it_names_its_images(self):
        self.assertEqual(package_chart.main([_REPOSITORY, _MACHINE, str(self.folder)]), 0)
        version = package_chart.versions()["CMakeLists.txt"]
        done = rendering.template(chart=self.folder / f"crossover-{version}.tgz")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("extender", "deviceplugin"):
            self.assertIn(f"image: {_REPOSITORY}/crossover-{name}:{version}\n", done.stdout)
        pods = re.findall(r"^ +nodeSelector:\n +kubernetes.io/arch: (\w+)", done.stdout, re.MULTILINE)
        self.assertEqual(pods, ["amd64"] * 4)

    def test_the_chart_of_the_tree_names_none(self):
        """This is the control."""
        done = rendering.template()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("image.repository is not set: name the repository", done.stderr)
        self.assertNotIn("kubernetes.io/arch", rendering.template(rendering.images()).stdout)

    def test_it_holds_what_the_tree_has(self):
        (self.folder / "chart.tgz").write_bytes(package_chart.package(_REPOSITORY, _MACHINE, 0))
        subprocess.run(["tar", "-C", str(self.folder), "-xzf", str(self.folder / "chart.tgz")], check=True)
        done = subprocess.run(["diff", "-r", str(rendering.CHART), str(self.folder / "crossover")],
                              capture_output=True, text=True, check=False)
        changed = [line for line in done.stdout.splitlines() if line.startswith(("<", ">", "Only", "diff"))]
        self.assertEqual(len(changed), 7, done.stdout)  # two repositories and the architecture of values.yaml
        self.assertTrue(changed[0].startswith("diff -r ") and changed[0].endswith("values.yaml"))

    def test_the_same_sources_give_the_same_archive(self):
        self.assertEqual(package_chart.package(_REPOSITORY, _MACHINE, 7),
                         package_chart.package(_REPOSITORY, _MACHINE, 7))
        for other in (("other", _MACHINE), (_REPOSITORY, "aarch64")):
            self.assertNotEqual(package_chart.package(_REPOSITORY, _MACHINE, 7), package_chart.package(*other, 7))

    def test_a_repository_that_is_none_is_refused(self):
        for repository in ("", "https://registry.example", "Registry", 'a" b', "a/"):
            with self.assertRaisesRegex(package_chart.Refused, "repository"):
                package_chart.package(repository, _MACHINE, 0)

    def test_a_machine_that_no_image_is_built_on_is_refused(self):
        with self.assertRaisesRegex(package_chart.Refused, "machine: expected x86_64 or aarch64, got 'riscv64'"):
            package_chart.package(_REPOSITORY, "riscv64", 0)

    def test_documentation_and_manifests_come_along(self):
        archives = []
        for name in ("one", "two"):
            (self.folder / name).mkdir()
            subprocess.run([str(TREE / "tools/package_docs.sh"), str(self.folder / name), "docs", "7"], check=True)
            archives.append((self.folder / name / "docs.tar.gz").read_bytes())
        self.assertEqual(*archives, "the same sources")
        subprocess.run(["tar", "-C", str(self.folder), "-xzf", str(self.folder / "one/docs.tar.gz")], check=True)
        listed = subprocess.run(["git", "ls-files", "docs", "manifests"], cwd=TREE, capture_output=True, text=True,
                                check=True).stdout.split()
        self.assertGreater(len(listed), 50)
        for name in listed:
            self.assertEqual((self.folder / "docs" / name).read_bytes(), (TREE / name).read_bytes(), name)
        for page in ("README.md", "charts/crossover/README.md"):  # other pages link to them
            self.assertTrue((self.folder / "docs" / page).is_file(), page)

    def test_a_release_without_a_repository_says_so_at_once(self):
        done = subprocess.run([str(TREE / "tools/release.sh")], capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("make release IMAGES=", done.stderr)


if __name__ == "__main__":
    unittest.main()
