"""Compares ours with NVIDIA's own driver library, NVML and MPS, of three major versions, unpacked from Debian.

Nothing of them is installed or linked. No GPU is needed: without one the driver still answers what it has, and the
control daemon of MPS runs and obeys.
"""

import dataclasses
import os
import unittest
from pathlib import Path

from testing.commands import Build
from testing.referee import binaries, compare, lookups, planted, tables
from testing.referee.library import Library

BUILD = Build(Path(os.environ.get("BUILD", "build/dev")).resolve())
_MAJORS = 3


def setUpModule():
    Referee.found, Referee.complaints = binaries.find()


class Referee(unittest.TestCase):
    maxDiff = None
    found: list = []
    complaints = ""

    def of(self, package):
        found = [binary for binary in self.found if binary.package == package]
        self.assertTrue(found, f"no {package} could be had: {self.complaints}")
        return found

    def newest(self, package):
        return max(self.of(package), key=lambda binary: binary.major)

    def test_all_of_them_could_be_had(self):
        self.assertEqual(self.complaints, "")
        for binary in self.found:
            if binary.version != binary.asked:
                print(f"Debian has replaced a version: {binary}; tools/install/referee.txt names {binary.asked}")
        for package in ("libcuda1", "libnvidia-ml1", "nvidia-cuda-mps"):
            self.assertEqual(len({binary.major for binary in self.of(package)}), _MAJORS, package)

    def judge(self, package, **instead):
        for binary in self.of(package):
            with self.subTest(str(binary)):
                verdict = compare.compare(binary, BUILD, **instead)
                print(f"{binary}: {verdict.compared} compared, {verdict.listed} listed")
                self.assertEqual(verdict.differing, [])
                self.assertGreater(verdict.compared, 100)

    def test_the_driver(self):
        self.judge("libcuda1")

    def test_nvml(self):
        self.judge("libnvidia-ml1")

    def test_mps(self):
        if os.geteuid() != 0:
            print("answers to another user are not compared: that takes root")
        self.judge("nvidia-cuda-mps")


class Controls(Referee):
    """The referee sees each of these planted faults."""

    test_all_of_them_could_be_had = test_the_driver = test_nvml = test_mps = None

    def test_a_row_with_another_version_is_seen(self):
        for change in (-10, 10):
            with self.subTest(change):
                verdict = planted.with_other_version(self.newest("libcuda1"), BUILD, "cuLaunchKernelEx_ptsz", change)
                self.assertEqual([text.split(":")[0] for text in verdict.differing], ["table cuLaunchKernelEx_ptsz"])

    def test_a_row_with_the_function_of_another_abi_is_seen(self):
        rows = [dataclasses.replace(row, symbol="cuStreamDestroy") if row.symbol == "cuStreamDestroy_v2" else row
                for row in tables.cuda_hooks()]
        verdict = compare.compare(self.newest("libcuda1"), BUILD, rows=rows)
        self.assertIn("table cuStreamDestroy: ours: cuStreamDestroy from 4000; libcuda1: cuStreamDestroy from 2000",
                      verdict.differing)

    def test_a_library_that_wraps_nothing_is_seen(self):
        for package, name, symbols in (
                ("libcuda1", "libcuda.so.1", [row.symbol for row in tables.cuda_hooks()]),
                ("libnvidia-ml1", "libnvidia-ml.so.1", tables.nvml_hooks())):
            differing, there = planted.unwrapped(self.newest(package), BUILD, name, symbols)
            self.assertTrue(there)
            self.assertEqual(differing, [f"gang dlsym {symbol}" for symbol in there])

    def test_a_driver_of_another_version_is_seen(self):
        """The oldest driver stands for a software GPU that answers otherwise."""
        oldest, newest = (pick(self.of("libcuda1"), key=lambda binary: binary.major) for pick in (min, max))
        probe = BUILD.program("referee_probe")
        compared = lookups.compare_answers(*(Library(probe, one.libraries, "libcuda.so.1") for one in (newest, oldest)))
        self.assertIn("answer cuCtxCreate 12050 any", {one.subject for one in compared if one.differs})

    def test_one_command_that_is_answered_otherwise_is_seen(self):
        verdict = planted.with_another_answer(self.newest("nvidia-cuda-mps"), BUILD)
        self.assertEqual([text.split(":")[0] for text in verdict.differing],
                         [f"command start_server{words}" for words in ("", " -uid", " -uid x", " 0")])

    def test_a_row_that_the_driver_has_may_not_be_listed(self):
        entries = compare.wanted_list()
        section = next(section for section, subject, _ in entries if subject == "answer cuCtxCreate 2000 any")
        rows = [dataclasses.replace(row, version=row.version + 10) if row.symbol == "cuGraphLaunch" else row
                for row in tables.cuda_hooks()]
        verdict = compare.compare(self.newest("libcuda1"), BUILD, rows=rows,
                                  entries=[*entries, (section, "table cuGraphLaunch", 1)])
        self.assertEqual(len(verdict.differing), 1)
        self.assertIn("table cuGraphLaunch may not be listed as 'lacks'", verdict.differing[0])


if __name__ == "__main__":
    unittest.main()
