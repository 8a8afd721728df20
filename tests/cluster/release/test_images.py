"""Tests the images of docker/ as `make release` builds them: their programs run, and as which user."""

import json
import os
import re
import shutil
import tarfile
import tempfile
import unittest
from pathlib import Path

from testing.cluster.built_images import NAMES, BuiltImages
from testing.cluster.rig.versions import TREE

_VERSION = re.search(r"crossover VERSION ([0-9.]+)", (TREE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
_LIMIT_MIB = 16  # of an image without its base
_LIMIT_WHOLE_MIB = 256  # with the base that tools/install.sh makes, not compressed


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="crossover-images-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.images = BuiltImages(os.environ["BUILD"], "localhost", _VERSION, cls.folder)

    def configuration(self, name):
        return json.loads(self.images.buildah("inspect", "--type", "image", self.images.name(name)))["OCIv1"]["config"]

    def test_programs_find_their_libraries(self):
        for image, program in (("extender", "crossover-extender"), ("deviceplugin", "crossover-deviceplugin"),
                               ("deviceplugin", "crossover")):
            self.assertIn(_VERSION, self.images.run_in(image, f"/usr/bin/{program}", "--version"))

    def test_who_runs_what(self):
        extender, daemon = self.configuration("extender"), self.configuration("deviceplugin")
        self.assertEqual(extender["User"], "65532:65532")
        self.assertEqual(extender["Entrypoint"], ["/usr/bin/crossover-extender"])
        self.assertNotIn("User", daemon, "root")
        self.assertIn("uid=65532", self.images.run_in("extender", "id"))

    def test_what_else_is_there(self):
        """The daemon's image has the libraries for containers, and the programs that the chart's DaemonSet of MPS
        calls."""
        for library in ("libcrossover.so", "libcrossover-shrink.so"):
            self.images.run_in("deviceplugin", "test", "-r", f"/usr/lib/crossover/{library}")
        for program in ("sh", "grep", "mkdir", "mount"):
            self.images.run_in("deviceplugin", "sh", "-c", f"command -v {program}")
        with self.assertRaises(AssertionError, msg="the control"):
            self.images.run_in("extender", "test", "-r", "/usr/lib/crossover/libcrossover.so")

    def test_they_are_small(self):
        for name in NAMES:
            files = (self.folder / "stage" / name).rglob("*")
            size = sum(file.stat().st_size for file in files if file.is_file())
            self.assertLess(size, _LIMIT_MIB << 20, name)
            self.assertLess(self.images.archive(name).stat().st_size, _LIMIT_WHOLE_MIB << 20, name)

    def test_they_have_nothing_of_the_machine_that_made_them(self):
        for name in NAMES:
            sizes = self.sizes_of(name)
            self.assertGreater(sizes["etc/passwd"], 0, "the control")
            for path in ("etc/hostname", "etc/resolv.conf"):
                self.assertEqual(sizes.get(path, 0), 0, f"{name}: {path}")

    def sizes_of(self, name):
        """Returns {path: size} of all files in the layers of an image. buildah adds empty files to mount others on."""
        found = {}
        with tarfile.open(self.images.archive(name, "opened")) as whole:
            for layer in json.load(whole.extractfile("manifest.json"))[0]["Layers"]:
                with tarfile.open(fileobj=whole.extractfile(layer)) as inner:
                    found |= {file.name.removeprefix("./"): file.size for file in inner.getmembers()}
        return found

    def test_the_chart_names_the_programs(self):
        """A mistyped command in the chart would otherwise show on a node only."""
        templates = TREE / "charts/crossover/templates"
        for file, image, in (("control/deployment.yaml", "extender"), ("deviceplugin/daemonset.yaml", "deviceplugin")):
            program = re.search(r"command: \[(crossover-[a-z]+)\]", (templates / file).read_text(encoding="utf-8"))[1]
            self.assertTrue((self.folder / "stage" / image / "usr/bin" / program).exists())


if __name__ == "__main__":
    unittest.main()
