"""Tests which Debian packages a release takes: those that are pinned, or a refusal that names the first that is not.
The mirror here is a stand-in that offers what a test says."""

import contextlib
import datetime
import io
import os
import subprocess
import unittest
from unittest import mock

from tests.unit.tools.in_a_folder import InAFolder
from tools.packages import __main__ as program
from tools.packages import debian, pins, roots
from tools.refused import Refused

real_read = pins.read
_SUM = "0" * 64
_HEAD = "# Taken on 2026-11-30, from Debian 12.\n"


def pin(name, version="1.0", digest=_SUM):
    return pins.Pin(name, version, digest)


class Files(InAFolder):
    def read(self, text):
        return pins.read(self.written("pins.txt", text))

    def test_what_is_written_is_read(self):
        parts = {("base", "amd64"): {"bc": pin("bc", "2:1.0~rc+1"), "ab": pin("ab")},
                 ("build", "amd64"): {"g++-12": pin("g++-12", "12", pins.INSTALLED)}}
        made = pins.Pins(parts, datetime.date(2026, 11, 30))
        read = self.read(made.text())
        self.assertEqual((read.parts, read.day, read.time), (parts, made.day, 1795996800))
        self.assertEqual(read.text().count("base amd64"), 2)
        self.assertEqual(read.of("sysroot", "arm64"), {})

    def test_the_file_of_the_tree_has_all_parts(self):
        read = pins.read()
        self.assertEqual(set(read.parts), {("base", "amd64"), ("base", "arm64"), ("sysroot", "arm64"),
                                           ("build", "amd64")})
        tools, libraries = roots.of_build()
        for part, names in ((("base", "arm64"), roots.of_images()), (("sysroot", "arm64"), libraries),
                            (("build", "amd64"), tools)):
            self.assertLessEqual(set(names), set(read.parts[part]), part)

    def test_bad_lines_are_refused(self):
        for line, pattern in (
                ("base amd64 ab 1.0", "pins.txt:2: expected part, architecture, package, version, SHA-256, got"),
                (f"root amd64 ab 1.0 {_SUM}", "pins.txt:2: part: expected one such as base.*, got 'root'"),
                (f"base riscv64 ab 1.0 {_SUM}", "architecture: expected .*, got 'riscv64'"),
                (f"base amd64 A 1.0 {_SUM}", "package: expected .*, got 'A'"),
                (f"base amd64 ab 1/0 {_SUM}", "version: expected .*, got '1/0'"),
                ("base amd64 ab 1.0 123", "SHA-256: expected .*, got '123'"),
                ("base amd64 ab 1.0 -", "SHA-256: expected - for build alone, got -"),
                (f"base amd64 ab 1.0 {_SUM}\nbase amd64 ab 1.1 {_SUM}", "pins.txt:3: base amd64 ab: expected one")):
            with self.subTest(line):
                self.refused(pattern, self.read, f"{_HEAD}{line}\n")
        self.refused("pins.txt: Taken on: expected a line with the day, such as 2026-11-30, got none", self.read, "")
        self.refused("pins.txt:1: day: expected one such as 2026-11-30, got soon", self.read, "# Taken on soon, x\n")
        self.refused("no such.txt: file: expected one with pinned packages", pins.read, self.folder / "no such.txt")


class Mirror:
    """Offers what a test says."""

    offers = {}
    failure = ""

    def __init__(self, architecture):
        self.architecture = architecture

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        pass

    def with_what_they_need(self, packages, essential):
        return sorted({*packages, *(["essential"] if essential else [])})

    def newest(self, packages):
        return {name: self.offers[name] for name in packages if name in self.offers}

    def fetch(self, wanted, pool):
        if self.failure:
            raise Refused(self.failure)
        for each in wanted:
            (pool / each.file).write_text(each.version, encoding="utf-8")


class Choices(InAFolder):
    def setUp(self):
        super().setUp()
        names = ["essential", *roots.of_images()]
        self.pinned = {name: pin(name) for name in names}
        tools = {name: pin(name, digest=pins.INSTALLED) for name in ("g++-12", "g++-12-aarch64-linux-gnu")}
        read = pins.Pins({("base", "amd64"): self.pinned, ("build", "amd64"): tools}, datetime.date(2026, 11, 30))
        Mirror.offers, self.made, self.installed = dict(self.pinned), [], {name: "1.0" for name in tools}
        for target, name, value in (
                (pins, "read", lambda: read), (debian, "Mirror", Mirror), (roots, "native", lambda: "amd64"),
                (roots, "base", lambda _a, _names, files, *_more: self.made.append(files)),
                (roots, "installed", lambda names: {each: self.installed[each] for each in names
                                                    if each in self.installed})):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        environment = mock.patch.dict(os.environ, {"CROSSOVER_CACHE": str(self.folder), "PINS": ""})
        environment.start()
        self.addCleanup(environment.stop)

    def roots(self, architecture="amd64", option=""):
        """Returns (exit code, output, errors) of the command."""
        out, errors = io.StringIO(), io.StringIO()
        with mock.patch.dict(os.environ, {"PINS": option}), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(errors):
            code = program.main(["roots", architecture])
        return code, out.getvalue(), errors.getvalue()

    def replace(self, name="libssl3"):
        Mirror.offers[name] = pin(name, "1.1", "1" * 64)

    def test_pinned_packages_are_taken(self):
        code, out, errors = self.roots()
        self.assertEqual((code, errors), (0, ""))
        self.assertRegex(out, r"^base\tamd64\t/.*/release-1/base-amd64-[0-9a-f]{12}\.tar\n$")
        self.assertEqual(self.made, [list(self.pinned.values())])

    def test_a_package_that_was_replaced_ends_it_in_one_line(self):
        self.replace()
        code, out, errors = self.roots()
        self.assertEqual((code, out, self.made), (2, "", []))
        self.assertEqual(errors, f"packages: base amd64 libssl3: expected 1.0 ({'0' * 12}), got 1.1 ({'1' * 12}): "
                                 "PINS=newest goes on and lists what differs\n")

    def test_one_that_was_fetched_before_is_taken_although_it_was_replaced(self):
        digest = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # of "1"
        pool = self.folder / "release-1/pool/amd64"
        pool.mkdir(parents=True)
        for name in self.pinned:
            self.pinned[name] = pin(name, "1", digest)
            (pool / self.pinned[name].file).write_text("1", encoding="utf-8")
        self.replace()
        self.assertEqual(self.roots()[0], 0)
        (pool / self.pinned["libssl3"].file).write_text("changed", encoding="utf-8")
        self.assertIn("packages: base amd64 libssl3: expected 1 ", self.roots()[2], "the control")

    def test_the_option_goes_on_and_lists_what_differs(self):
        self.replace()
        self.installed["g++-12"] = "2.0"
        code, _, errors = self.roots(option="newest")
        self.assertEqual(code, 0)
        self.assertEqual(errors.splitlines(), [
            "packages: differs: build amd64 g++-12: expected 1.0, got 2.0",
            f"packages: differs: base amd64 libssl3: expected 1.0 ({'0' * 12}), got 1.1 ({'1' * 12})"])
        self.assertEqual({each.version for each in self.made[0]}, {"1.0", "1.1"})

    def test_what_this_machine_builds_with_is_compared(self):
        self.installed["g++-12"] = "2.0"
        self.assertIn("packages: build amd64 g++-12: expected 1.0, got 2.0", self.roots()[2])
        del self.installed["g++-12"]
        for option in ("", "newest"):
            code, _, errors = self.roots(option=option)
            self.assertEqual((code, errors), (2, "packages: build g++-12: expected an installed package, got none: "
                                                 "tools/install.sh --release\n"))

    def test_pinning_writes_what_the_mirror_has(self):
        path = self.folder / "pins.txt"
        tools, libraries = roots.of_build()
        Mirror.offers = {name: pin(name) for name in ("essential", *roots.of_images(), *libraries)}
        self.installed = {name: "1.0" for name in (*tools, *libraries, *roots.packers())}
        read = pins.Pins({}, datetime.date(2026, 11, 30))
        with mock.patch.object(pins, "FILE", path), mock.patch.object(pins, "read", lambda: read):
            self.assertEqual(program.main(["pin"]), 0)
        written = real_read(path)
        self.assertEqual(set(written.of("base", "arm64")), {"essential", *roots.of_images()})
        self.assertEqual(set(written.of("sysroot", "arm64")), set(libraries))
        self.assertEqual(written.of("sysroot", "amd64"), {}, "programs of this machine use its own libraries")
        self.assertEqual(written.of("build", "amd64")["g++-12"], pin("g++-12", digest=pins.INSTALLED))
        self.assertNotIn("libcurl4", written.of("build", "amd64"), "what leaves no bytes")

    def test_one_architecture_needs_no_cross_compiler(self):
        del self.installed["g++-12-aarch64-linux-gnu"]
        self.assertEqual(self.roots()[0], 0)

    def test_every_pinned_package_of_the_cross_compiler_is_recognised(self):
        # Debian writes "cross" into the version of a cross compiler's package. Binutils are built for all at once.
        pinned = real_read().of("build", "amd64").values()
        of_cross = {each.name for each in pinned if "cross" in each.version}
        self.assertIn("gcc-12-cross-base", of_cross)
        recognised = {each.name for each in pinned if roots.OF_CROSS_COMPILER.search(each.name)}
        self.assertEqual(recognised, of_cross | {"binutils-aarch64-linux-gnu"})

    def test_bad_words_are_refused(self):
        for words, said in (({"architecture": "riscv64"}, "ARCHITECTURES: expected amd64 or arm64, got riscv64"),
                            ({"option": "oldest"}, "PINS: expected nothing or newest, got oldest")):
            self.assertEqual(self.roots(**words)[::2], (2, f"release: {said}\n"))
        Mirror.failure = "packages: amd64: expected the lists of Debian 12, got no answer"
        self.addCleanup(setattr, Mirror, "failure", "")
        self.assertEqual(self.roots()[::2], (2, f"{Mirror.failure}\n"))


class Emulating(unittest.TestCase):
    def test_a_command_must_be_given(self):
        done = subprocess.run(roots.EMULATE, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "emulate: argument: expected a command, got none\n"))

    def test_without_rights_it_ends_with_one_line(self):
        """In a namespace of one user, even root may not map others."""
        done = subprocess.run(["unshare", "--user", "--map-root-user", *roots.EMULATE, "true"], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^emulate: users of the namespace: expected that they can be mapped, got .+\n$")


if __name__ == "__main__":
    unittest.main()
