"""Tests the build directory in which one program is of an older revision."""

import tempfile
import unittest
from pathlib import Path

from benchmarks.runner.older_build import with_older
from testing.commands import Build

_TREE = Path(__file__).resolve().parents[4]


class OlderBuild(unittest.TestCase):
    def test_the_older_program_has_its_rights_and_no_keys_that_it_does_not_know(self):
        with tempfile.TemporaryDirectory() as folder:
            build = Build(Path(folder))
            (build.top / "bin").mkdir()
            for name in ("crossover-extender", "crossover-extender-HEAD", "crossover"):
                (build.top / "bin" / name).write_text(name, encoding="ascii")
            with with_older(build, "crossover-extender", "HEAD", ("webhook.shm", "shares")) as older:
                self.assertEqual(older.program("crossover-extender").read_text(encoding="ascii"),
                                 "crossover-extender-HEAD")
                self.assertEqual(older.program("crossover").read_text(encoding="ascii"), "crossover")
                self.assertEqual(older.unknown_keys, ["webhook.shm", "shares"])
                self.assertIn("ClusterRole", (older.rights / "extender.yaml").read_text(encoding="utf-8"))
                self.assertTrue(older.rights.is_relative_to(older.top))
            self.assertEqual((build.unknown_keys, build.rights), ([], _TREE / "manifests" / "rbac"))


if __name__ == "__main__":
    unittest.main()
