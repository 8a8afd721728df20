"""Tests the shipped library that compresses, in front of libcrossover.so and alone, in programs of images that have
little."""

from pathlib import Path

from tests.process.sidecar.image_case import NEW, OLD, PORTABLE, ImageCase

_ASKED = {"CROSSOVER_GANG": "a", "CROSSOVER_SHRINK": "bf16"}
_SHRINK = "libcrossover-shrink.so"


class BothImages(ImageCase):
    FRONT = (_SHRINK,)

    def test_nothing_but_libc(self):
        for image, source in (("old", OLD), ("new", NEW)):
            with self.subTest(image):
                self.setUp()
                self.glibc(source, "libc.so.6")
                self.check_changes_nothing(image, "greets", **_ASKED)

    def test_musl(self):
        self.musl()
        self.check_changes_nothing("musl", "greets", **_ASKED)
        self.check_goes_on(*self.both("musl", "looks_up", **_ASKED))

    def test_calls_go_on_to_libcrossover(self):
        self.glibc(NEW, "libc.so.6")
        self.check_goes_on(*self.both("new", "looks_up", **_ASKED))

    def test_an_old_program(self):
        self.glibc(OLD, "libc.so.6", "libdl.so.2", "libpthread.so.0")
        self.check_goes_on(*self.both("old", "threads", **_ASKED))

    def test_a_static_program(self):
        self.check_changes_nothing("static", "greets", **_ASKED)

    def test_the_kernels_in_it_are_those_of_the_tree(self):
        kernels = Path("shrink/kernels/kernels.ptx").read_bytes()
        for architecture in ("x86_64", "aarch64"):
            self.assertIn(kernels + b"\0", (PORTABLE.parent / architecture / _SHRINK).read_bytes())

    def check_goes_on(self, hooked, plain):
        """libcrossover.so reaches NCCL by its profiling twin, which returns one more here."""
        self.assertEqual(plain[0], "parent 1\nstart its own 40\nversion its own\ncarried 140\n")
        self.assertEqual(hooked, ("parent 1\nstart libcrossover 41\nversion its own\ncarried 141\n", ""))


class AloneImages(ImageCase):
    FRONT, FILE = (_SHRINK,), ()

    def test_it_takes_the_places_of_functions_on_the_owners_word_alone(self):
        self.glibc(NEW, "libc.so.6")
        for level, taken in (("bf16", "libcrossover"), ("off", "its own")):
            hooked, _ = self.both("new", "looks_up", CROSSOVER_SHRINK=level)
            self.assertIn(f"start {taken} 40\n", hooked[0])
