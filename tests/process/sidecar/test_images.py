"""Tests the shipped library, preloaded into programs of images that have little."""

import subprocess

from tests.process.sidecar.image_case import NEW, OLD, PORTABLE, PROGRAMS, ROOTS, ImageCase

GANG = {"CROSSOVER_GANG": "a"}


class Images(ImageCase):

    def test_nothing_but_libc_of_an_old_one(self):
        self.glibc(OLD, "libc.so.6")
        self.check_changes_nothing("old", "greets", **GANG)

    def test_nothing_but_libc_of_a_new_one(self):
        self.glibc(NEW, "libc.so.6")
        self.check_changes_nothing("new", "greets", **GANG)

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
        self.assertEqual(hooked[1], "crossover: this process takes no turns: this program was started without "
                         "libpthread, which the library needs for its threads; no limit of its GPU memory "
                         "holds either\n")

    def test_musl(self):
        self.musl()
        self.check_changes_nothing("musl", "greets", **GANG)
        self.check_takes_part(*self.both("musl", "looks_up", **GANG))

    def test_the_library_for_aarch64(self):
        """The processor is emulated, with Debian's C library for it."""
        library = PORTABLE.parent / "aarch64" / "libcrossover.so"
        said = []
        for preload in (str(library), ""):
            done = subprocess.run(["qemu-aarch64-static", "-L", ROOTS / "arm64", "-E", f"LD_PRELOAD={preload}", "-E",
                                   f"LD_LIBRARY_PATH={PROGRAMS / 'arm64'}", "-E", "CROSSOVER_GANG=a",
                                   PROGRAMS / "arm64" / "looks_up"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done)
            said.append((done.stdout, done.stderr))
        self.check_takes_part(*said)

    def test_a_static_program(self):
        self.check_changes_nothing("static", "greets", **GANG)

    def check_takes_part(self, hooked, plain):
        # The library reaches NCCL by its profiling twin. The fake NCCL's twin returns another number than the function
        # itself.
        self.assertEqual(plain[0], "parent 1\nstart its own 40\nversion its own\ncarried 140\n")
        self.assertEqual(hooked, ("parent 1\nstart libcrossover 41\nversion its own\ncarried 141\n", ""))
