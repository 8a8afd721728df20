"""Tests the command line as it is released: it runs from where it was unpacked, with the libraries of its package."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

_TREE = Path(__file__).resolve().parents[3]
_C_LIBRARY = ("linux-vdso", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libresolv.so",
              "/lib64/ld-linux", "/lib/ld-linux")


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.build = Path(os.environ["BIN"]).parent

    def pack(self, name="crossover-cli"):
        subprocess.run([_TREE / "tools/package_cli.sh", self.build, self.out, name, "0"], cwd=_TREE, check=True)
        return self.out / f"{name}.tar.gz"

    def test_it_runs_with_what_came_with_it(self):
        subprocess.run(["tar", "-C", self.out, "-xf", self.pack()], check=True)
        program = self.out / "crossover-cli/bin/kubectl-crossover"
        done = subprocess.run([program, "--help"], env={}, capture_output=True, text=True, check=True)
        self.assertIn("explain", done.stdout)
        self.assertNotIn("timeline --socket", done.stdout, "it is kubectl's plugin by this name")
        ours = f"{self.out}/crossover-cli/bin/../lib/crossover/"
        needed = subprocess.run(["ldd", program], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
                                check=True).stdout
        lines = [line.strip() for line in needed.splitlines() if not line.strip().startswith(_C_LIBRARY)]
        self.assertGreater(len(lines), 5)
        # A library finds all that it needs by its own path, and nothing is searched elsewhere.
        self.assertEqual([line for line in lines if ours not in line], [])

    def test_the_same_program_gives_the_same_archive(self):
        self.assertEqual(self.pack().read_bytes(), self.pack().read_bytes())

    def test_a_build_without_it_says_so(self):
        done = subprocess.run([_TREE / "tools/package_cli.sh", self.out, self.out, "x", "0"], capture_output=True,
                              text=True, check=False, cwd=_TREE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"expected {self.out}/bin/crossover, got none", done.stderr)


if __name__ == "__main__":
    unittest.main()
