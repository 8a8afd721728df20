"""Tests the chart and the documentation as they are released."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing import rendering
from testing.chart import TREE
from tests.docs.pages import links, read
from tests.docs.test_links import resolved
from tests.unit.tools.trust.test_trust import Blobs
from tools import package_chart
from tools.refused import Refused
from tools.trust import files
from tools.trust.oci import Archive

_REPOSITORY = "registry.example:5000/team"
_NAMES = ("crossover-deviceplugin", "crossover-extender")
_DIGESTS = {name: f"sha256:{digit * 64}" for name, digit in zip(_NAMES, "12")}
_BOTH = ("amd64", "arm64")


def packed(repository=_REPOSITORY, architectures=_BOTH, when=7):
    return package_chart.package(package_chart.values(repository, _DIGESTS, architectures), when)


def oci_archive(path, content):
    blobs = Blobs()
    return blobs.write(path, blobs.image([{"a": content.encode()}]))


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def rendered(self, chart):
        path = self.folder / "chart.tgz"
        path.write_bytes(chart)
        done = rendering.template(chart=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_names_its_images_by_digest(self):
        text = self.rendered(packed())
        for name in _NAMES:
            self.assertIn(f"image: {_REPOSITORY}/{name}@{_DIGESTS[name]}\n", text)
        self.assertNotIn("kubernetes.io/arch", text)

    def test_images_of_one_architecture_keep_pods_on_its_nodes(self):
        text = self.rendered(packed(architectures=["amd64"]))
        pods = re.findall(r"^ +nodeSelector:\n +kubernetes.io/arch: (\w+)", text, re.MULTILINE)
        self.assertEqual(pods, ["amd64"] * 4)

    def test_digests_and_architectures_are_those_of_the_archives(self):
        version = package_chart.versions()["CMakeLists.txt"]
        for name in files.IMAGES:
            oci_archive(self.folder / files.image(name, version), name)
        self.assertEqual(package_chart.main([_REPOSITORY, str(self.folder)]), 0)
        done = rendering.template(chart=self.folder / files.chart(version))
        with Archive(self.folder / files.image("extender", version)) as archive:
            self.assertIn(f"image: {_REPOSITORY}/crossover-extender@{archive.digest}\n", done.stdout)
        with Archive(self.folder / files.chart_artifact(version)) as archive:
            self.assertEqual((archive.images, archive.name), ((), f"{_REPOSITORY}/crossover:{version}"))

    def test_the_chart_of_the_tree_names_none(self):
        """This is the control."""
        done = rendering.template()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("image.repository is not set: name the repository", done.stderr)
        self.assertNotIn("kubernetes.io/arch", rendering.template(rendering.images()).stdout)

    def test_it_holds_what_the_tree_has(self):
        (self.folder / "chart.tgz").write_bytes(packed(architectures=["amd64"]))
        subprocess.run(["tar", "-C", str(self.folder), "-xzf", str(self.folder / "chart.tgz")], check=True)
        done = subprocess.run(["diff", "-r", str(rendering.CHART), str(self.folder / "crossover")],
                              capture_output=True, text=True, check=False)
        changed = [line for line in done.stdout.splitlines() if line.startswith(("<", ">", "Only", "diff"))]
        self.assertEqual(len(changed), 11, done.stdout)  # two repositories, two digests and the architecture
        self.assertTrue(changed[0].startswith("diff -r ") and changed[0].endswith("values.yaml"))

    def test_the_same_sources_give_the_same_archive(self):
        self.assertEqual(packed(), packed())
        for other in (packed("other"), packed(architectures=["arm64"]), packed(when=8)):
            self.assertNotEqual(packed(), other)

    def test_a_repository_that_is_none_is_refused(self):
        for repository in ("", "https://registry.example", "Registry", 'a" b', "a/"):
            with self.assertRaisesRegex(Refused, "repository"):
                packed(repository)

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
        targets = {resolved(page, target)[0] for page in ("README.md", *listed) if page.endswith(".md")
                   for target in links(read(page)) if "://" not in target}
        self.assertIn("charts/crossover/README.md", targets)
        self.assertEqual([target for target in targets if not (self.folder / "docs" / target).exists()], [])
        self.assertFalse((self.folder / "docs/Makefile").exists(), "the control")

    def test_a_release_without_a_repository_says_so_at_once(self):
        done = subprocess.run([str(TREE / "tools/release.sh")], capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("make release IMAGES=", done.stderr)


if __name__ == "__main__":
    unittest.main()
