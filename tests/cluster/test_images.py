"""The images of docker/, as `make release` builds them: what they hold runs, and as whom."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.cluster.rig.versions import TREE, cache

_VERSION = re.search(r"crossover VERSION ([0-9.]+)", (TREE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
_LIMIT_MIB = 200  # of an image without its base


def builder():
    program = cache() / "images-1/builder/usr/bin/buildah"
    if not program.exists():
        raise FileNotFoundError(f"{program} is missing: tools/install.sh --images")
    return str(program)


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="crossover-images-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        subprocess.run([TREE / "tools/build_images.sh", os.environ["BUILD"], "localhost", _VERSION, cls.folder],
                       check=True)

    @classmethod
    def buildah(cls, *words, check=True):
        command = [builder(), "--root", str(cls.folder / "storage"), "--runroot", str(cls.folder / "run"),
                   "--storage-driver", "vfs", *words]
        environment = {**os.environ, "BUILDAH_ISOLATION": "chroot", "XDG_RUNTIME_DIR": str(cls.folder),
                       "TMPDIR": str(cls.folder)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"buildah {' '.join(words)}: {done.stderr[-2000:]}")
        return done.stdout

    def run_in(self, name, *command):
        container = self.buildah("from", "--pull-never", _image(name)).strip()
        try:
            return self.buildah("run", container, "--", *command)
        finally:
            self.buildah("rm", container)

    def configuration(self, name):
        return json.loads(self.buildah("inspect", "--type", "image", _image(name)))["OCIv1"]["config"]

    def test_programs_find_their_libraries(self):
        for image, program in (("extender", "crossover-extender"), ("deviceplugin", "crossover-deviceplugin"),
                               ("deviceplugin", "crossover")):
            self.assertIn(_VERSION, self.run_in(image, f"/usr/bin/{program}", "--version"))

    def test_who_runs_what(self):
        extender, daemon = self.configuration("extender"), self.configuration("deviceplugin")
        self.assertEqual(extender["User"], "65532:65532")
        self.assertEqual(extender["Entrypoint"], ["/usr/bin/crossover-extender"])
        self.assertNotIn("User", daemon, "root")
        self.assertIn("uid=65532", self.run_in("extender", "id"))

    def test_what_else_is_there(self):
        """The library, for containers; what the chart's DaemonSet of MPS calls."""
        self.run_in("deviceplugin", "test", "-r", "/usr/lib/crossover/libcrossover.so")
        for program in ("sh", "grep", "mkdir", "mount"):
            self.run_in("deviceplugin", "sh", "-c", f"command -v {program}")
        with self.assertRaises(AssertionError, msg="the control"):
            self.run_in("extender", "test", "-r", "/usr/lib/crossover/libcrossover.so")

    def test_they_are_small(self):
        for name in ("extender", "deviceplugin"):
            files = (self.folder / "stage" / name).rglob("*")
            size = sum(file.stat().st_size for file in files if file.is_file())
            self.assertLess(size, _LIMIT_MIB << 20, name)

    def test_the_chart_names_the_programs(self):
        """A mistyped command would show on a node alone."""
        templates = TREE / "charts/crossover/templates"
        for file, image, in (("control/deployment.yaml", "extender"), ("deviceplugin/daemonset.yaml", "deviceplugin")):
            program = re.search(r"command: \[(crossover-[a-z]+)\]", (templates / file).read_text(encoding="utf-8"))[1]
            self.assertTrue((self.folder / "stage" / image / "usr/bin" / program).exists())


def _image(name):
    return f"localhost/crossover-{name}:{_VERSION}"


if __name__ == "__main__":
    unittest.main()
