"""Tests the shipped library, preloaded into programs of images that have little: old C libraries, another one, none.

An image is a directory with the files of its C library and nothing more. Its programs run in it by chroot.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAMS = Path(os.environ.get("IMAGE_PROGRAMS", ""))
LIBRARY = Path(os.environ.get("PORTABLE", "")) / "x86_64" / "libcrossover.so"
ROOTS = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover") / "images-1"
LIBRARIES = "lib/x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"
GANG = {"CROSSOVER_GANG": "a"}
OLD, NEW = ROOTS / "bullseye", Path("/")  # glibc 2.31, with libpthread and libdl apart; this machine's


class Images(unittest.TestCase):

    def setUp(self):
        if not LIBRARY.exists():
            self.fail(f"no {LIBRARY}: build crossover_portable")
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
        (self.root / "etc/ld.so.preload").write_text("/libcrossover.so\n")

    def musl(self):
        (self.root / "lib").mkdir()
        shutil.copy(ROOTS / "musl" / "lib/ld-musl-x86_64.so.1", self.root / "lib")

    def both(self, image, program, **environment):
        """Runs the program with the library and without. Returns (standard output, standard error) of each."""
        shutil.copy(PROGRAMS / image / program, self.root)
        (self.root / "libraries").mkdir(exist_ok=True)
        for library in (PROGRAMS / image).glob("lib*"):
            shutil.copy(library, self.root / "libraries")
        return (self._run(program, environment, preloaded=True), self._run(program, environment, preloaded=False))

    def _run(self, program, environment, preloaded):
        library = self.root / "libcrossover.so"
        library.unlink(missing_ok=True)
        if preloaded:
            shutil.copy(LIBRARY, library)
        else:
            (self.root / "etc/ld.so.preload").unlink(missing_ok=True)
        preload = {"LD_PRELOAD": "/libcrossover.so"} if preloaded and not (self.root / "etc").exists() else {}
        done = subprocess.run([f"/{program}"], capture_output=True, text=True, check=False, preexec_fn=self._enter,
                              env={"LD_LIBRARY_PATH": "/libraries", **preload, **environment})
        self.assertEqual(done.returncode, 0, done)
        return done.stdout, done.stderr

    def _enter(self):
        os.chroot(self.root)
        os.chdir("/")

    def test_nothing_but_libc_of_an_old_one(self):
        self.glibc(OLD, "libc.so.6")
        hooked, plain = self.both("old", "greets", **GANG)
        self.assertEqual(hooked, plain)

    def test_nothing_but_libc_of_a_new_one(self):
        self.glibc(NEW, "libc.so.6")
        hooked, plain = self.both("new", "greets", **GANG)
        self.assertEqual(hooked, plain)

    def test_a_new_libc_alone_has_all_that_turns_need(self):
        self.glibc(NEW, "libc.so.6")
        self.check_takes_part(*self.both("new", "looks_up", **GANG))

    def test_an_old_program_with_threads_takes_part(self):
        self.glibc(OLD, "libc.so.6", "libdl.so.2", "libpthread.so.0")
        self.check_takes_part(*self.both("old", "threads", **GANG))

    def test_an_old_program_without_threads_runs_as_it_is_and_says_why(self):
        self.glibc(OLD, "libc.so.6", "libdl.so.2", "libpthread.so.0")
        hooked, plain = self.both("old", "looks_up", **GANG)
        # A library's own NCCL is still found behind our exports, which call its profiling twin.
        self.assertEqual(hooked[0], plain[0].replace("carried 140", "carried 141"))
        self.assertEqual(hooked[1], "crossover: takes no turns: this program was started without libpthread, which the "
                         "library needs for its threads; no limit of its GPU memory holds either\n")

    def test_musl(self):
        self.musl()
        hooked, plain = self.both("musl", "greets", **GANG)
        self.assertEqual(hooked, plain)
        self.check_takes_part(*self.both("musl", "looks_up", **GANG))

    def test_the_library_for_aarch64(self):
        """The processor is emulated, with Debian's C library for it."""
        library = LIBRARY.parent.parent / "aarch64" / LIBRARY.name
        said = []
        for preload in (str(library), ""):
            done = subprocess.run(["qemu-aarch64-static", "-L", ROOTS / "arm64", "-E", f"LD_PRELOAD={preload}", "-E",
                                   f"LD_LIBRARY_PATH={PROGRAMS / 'arm64'}", "-E", "CROSSOVER_GANG=a",
                                   PROGRAMS / "arm64" / "looks_up"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done)
            said.append((done.stdout, done.stderr))
        self.check_takes_part(*said)

    def test_a_static_program(self):
        hooked, plain = self.both("static", "greets", **GANG)
        self.assertEqual(hooked, plain)

    def check_takes_part(self, hooked, plain):
        # The library reaches NCCL by its profiling twin. The fake NCCL's twin returns another number than the function
        # itself.
        self.assertEqual(plain[0], "parent 1\nstart its own 40\nversion its own\ncarried 140\n")
        self.assertEqual(hooked, ("parent 1\nstart libcrossover 41\nversion its own\ncarried 141\n", ""))
