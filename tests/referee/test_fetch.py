"""Tests how NVIDIA's programs are had (tools/install/referee.sh), with an apt-get of the test's own."""

import hashlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing.referee import binaries

# Knows the packages in the folder OFFERED, as NAME_VERSION.deb. Without a version it takes the only one.
_APT_GET = """#!/bin/sh
for word; do last=$word; done
case " $* " in
  *" update "*) [ -d "$OFFERED" ] || { echo "E: no archive" >&2; exit 100; } ;;
  *" download "*) cp "$OFFERED/$(echo "$last" | tr = _)"*.deb . 2> /dev/null || { echo "E: no $last" >&2; exit 100; } ;;
esac
"""
_SUM = "0" * 64


class Fetch(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.offered = self.place / "offered"
        for name in ("offered", "bin", "cache"):
            (self.place / name).mkdir()
        apt_get = self.place / "bin" / "apt-get"
        apt_get.write_text(_APT_GET, encoding="utf-8")
        apt_get.chmod(0o755)

    def offer(self, name, version):
        """Offers a package with one file that names its version. Returns its SHA-256."""
        root = self.place / "made" / version
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN" / "control").write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: none\nDescription: none\n",
            encoding="utf-8")
        (root / "version").write_text(version, encoding="utf-8")
        file = self.offered / f"{name}_{version}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, file], check=True, capture_output=True)
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def find(self, *pins):
        file = self.place / "pins.txt"
        file.write_text("# a remark\n\n" + "".join(f"{pin}\n" for pin in pins), encoding="utf-8")
        return binaries.find(REFEREE_PINS=str(file), CROSSOVER_CACHE=str(self.place / "cache"),
                             OFFERED=str(self.offered), PATH=f"{self.place / 'bin'}:{os.environ['PATH']}")

    def test_what_is_pinned_is_unpacked_and_kept(self):
        pin = f"sid some 1.0 {self.offer('some', '1.0')}"
        (some,), complaints = self.find(pin)
        self.assertEqual((some.version, some.asked, complaints), ("1.0", "1.0", ""))
        self.assertEqual((some.folder / "version").read_text(encoding="utf-8"), "1.0")
        (self.offered / "some_1.0.deb").unlink()
        self.offered.rmdir()
        self.assertEqual(self.find(pin), ([some], ""), "a package that is there needs no archive")

    def test_a_version_in_anothers_place_is_taken_and_told(self):
        self.offer("some", "2.0")
        (some,), complaints = self.find(f"sid some 1.0 {_SUM}")
        self.assertEqual((some.version, str(some), complaints), ("2.0", "some 2.0 (in place of 1.0)", ""))
        self.assertEqual(self.find(f"sid some 1.0 {_SUM}"), ([some], ""))

    def test_a_pin_that_changes_is_taken_anew(self):
        self.offer("some", "1.0")
        self.find(f"sid some 0.9 {_SUM}")
        (self.offered / "some_1.0.deb").unlink()
        (some,), _ = self.find(f"sid some 1.1 {self.offer('some', '1.1')}")
        self.assertEqual((some.version, some.asked), ("1.1", "1.1"))

    def test_another_content_is_refused(self):
        self.offer("some", "1.0")
        found, complaints = self.find(f"sid some 1.0 {_SUM}")
        self.assertEqual(found, [])
        self.assertIn(f"some 1.0 is not what it was: its SHA-256 is another than {_SUM}", complaints)

    def test_where_one_cannot_be_had_the_others_are(self):
        sum_of = self.offer("some", "1.0")
        (some,), complaints = self.find(f"sid other 3.0 {_SUM}", f"sid some 1.0 {sum_of}")
        self.assertEqual(some.package, "some")
        self.assertIn("other cannot be had: sid has neither 3.0 nor another: E: no other", complaints)

    def test_without_an_archive_nothing_is_had(self):
        self.offered.rmdir()
        found, complaints = self.find(f"sid some 1.0 {_SUM}")
        self.assertEqual(found, [])
        self.assertIn("got none: E: no archive", complaints)

    def test_a_line_that_is_no_pin_is_named(self):
        for pin in ("sid some 1.0", f"sid some 1.0 {_SUM} more"):
            with self.subTest(pin):
                found, complaints = self.find(pin)
                self.assertEqual(found, [])
                self.assertIn(f"pins.txt: '{pin}", complaints)
                self.assertIn("expected suite, package, version and SHA-256", complaints)


if __name__ == "__main__":
    unittest.main()
