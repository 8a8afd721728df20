"""Provides a test case with images that have little: old C libraries, another one, none. Its programs run with shipped
libraries preloaded, and without.

An image is a directory with the files of its C library and nothing more. Its programs run in it by chroot.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAMS = Path(os.environ.get("IMAGE_PROGRAMS", ""))
PORTABLE = Path(os.environ.get("PORTABLE", "")) / "x86_64"
ROOTS = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover") / "images-1"
LIBRARIES = "lib/x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"
OLD, NEW = ROOTS / "bullseye", Path("/")  # glibc 2.31, with libpthread and libdl apart; this machine's


class ImageCase(unittest.TestCase):
    """glibc reads FILE from /etc/ld.so.preload, behind what FRONT names in LD_PRELOAD. Other C libraries read
    LD_PRELOAD alone, which then names both."""

    FRONT, FILE = (), ("libcrossover.so",)

    def setUp(self):
        for name in (*self.FRONT, *self.FILE):
            if not (PORTABLE / name).exists():
                self.fail(f"no {PORTABLE / name}: build crossover_portable")
        self.place = tempfile.TemporaryDirectory(prefix="crossover-image.")
        self.addCleanup(self.place.cleanup)
        self.root = Path(self.place.name)

    def glibc(self, source, *parts):
        """Makes an image with these parts of that root's C library."""
        if not source.exists():
            self.fail(f"no {source}: tools/install.sh --images makes it")
        (self.root / LIBRARIES).mkdir(parents=True)
        for part in (LOADER, *parts):
            shutil.copy(source / LIBRARIES / part, self.root / LIBRARIES / part)
        (self.root / "lib64").mkdir()
        (self.root / "lib64" / LOADER).symlink_to(f"/{LIBRARIES}/{LOADER}")
        (self.root / "etc").mkdir()

    def musl(self):
        (self.root / "lib").mkdir()
        shutil.copy(ROOTS / "musl" / "lib/ld-musl-x86_64.so.1", self.root / "lib")

    def both(self, image, program, **environment):
        """Runs the program with the libraries and without. Returns (standard output, standard error) of each."""
        shutil.copy(PROGRAMS / image / program, self.root)
        (self.root / "libraries").mkdir(exist_ok=True)
        for library in (PROGRAMS / image).glob("lib*"):
            shutil.copy(library, self.root / "libraries")
        return (self._run(program, environment, self._preload()), self._run(program, environment, {}))

    def check_changes_nothing(self, image, program, **environment):
        """Checks that the program says the same with the libraries and without."""
        hooked, plain = self.both(image, program, **environment)
        self.assertEqual(hooked, plain)

    def _preload(self):
        """Preloads the libraries into what runs next. Returns the environment for that."""
        for name in (*self.FRONT, *self.FILE):
            shutil.copy(PORTABLE / name, self.root)
        by_variable = self.FRONT
        if (self.root / "etc").exists():
            (self.root / "etc/ld.so.preload").write_text("".join(f"/{name}\n" for name in self.FILE))
        else:
            by_variable = (*self.FRONT, *self.FILE)
        return {"LD_PRELOAD": ":".join(f"/{name}" for name in by_variable)} if by_variable else {}

    def _run(self, program, environment, preload):
        done = subprocess.run([f"/{program}"], capture_output=True, text=True, check=False, preexec_fn=self._enter,
                              env={"LD_LIBRARY_PATH": "/libraries", **preload, **environment})
        for name in (*self.FRONT, *self.FILE, "etc/ld.so.preload"):
            (self.root / name).unlink(missing_ok=True)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout, done.stderr

    def _enter(self):
        os.chroot(self.root)
        os.chdir("/")
