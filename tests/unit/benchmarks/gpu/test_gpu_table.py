"""Tests what the suite for real GPUs writes where a part gives no line, and how it finds PyTorch's NCCL and turns."""

import tempfile
import time
import unittest
from pathlib import Path

from benchmarks.gpu import job_parts, parts, torch_rig
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import NEVER, YES, figure, shown
from benchmarks.gpu.job_parts import Case, Seen
from benchmarks.gpu.parts import Part, Promise, Ran, unmeasured
from benchmarks.gpu.rig import Rig
from benchmarks.gpu.suite import PARTS
from benchmarks.gpu.table import Table

_PART = Part("doors", 10, None, (Promise("gpu_open", YES, "yes=1"), Promise("gpu_shut", NEVER)), True)


class Parts(unittest.TestCase):

    def test_each_part_promises_something_and_has_a_name_of_its_own(self):
        self.assertEqual(len({part.name for part in PARTS}), len(PARTS))
        for part in PARTS:
            self.assertTrue(part.promises, part.name)
            self.assertLessEqual(part.limit_s, 480, part.name)

    def test_what_was_promised_and_did_not_come_gets_a_line(self):
        lines = unmeasured(_PART, "no key", [figure("gpu_open", "front", 1, "yes=1", YES)])
        self.assertEqual([(line.figure, line.case, line.value, line.ok) for line in lines],
                         [("gpu_shut", "not_measured_by_doors", None, False)])
        self.assertEqual(lines[0].remarks["reason"], "no key")

    def test_a_part_that_reaches_its_limit_says_so_of_each_of_its_figures(self):
        def run(_rig):
            yield figure("gpu_open", "front", 1, "yes=1", YES)
            time.sleep(60)

        with tempfile.TemporaryDirectory() as folder:
            rig = Rig(Path(), Path(folder), Path(folder))
            ran = parts.run(Part("doors", 10, run, _PART.promises), rig, 0.2, lambda line: None)
        self.assertEqual([(line.figure, line.case, line.remarks.get("reason")) for line in ran.lines],
                         [("gpu_open", "front", None)] + [
                             (name, "not_measured_by_doors", "no end after 0 s") for name in ("gpu_open", "gpu_shut")])

    def test_outcomes(self):
        good, bad = figure("gpu_open", "front", 1, "1", YES), figure("gpu_open", "back", 0, "1", YES)
        self.assertEqual(Ran([good]).outcome, "ok")
        self.assertEqual(Ran([good, bad]).outcome, "missed: gpu_open back")
        self.assertEqual(Ran([good], "no end after 10 s").outcome, "in part: no end after 10 s")
        self.assertEqual(Ran(unmeasured(_PART, "no key"), "no key").outcome, "not run: no key")


class Lines(unittest.TestCase):

    def setUp(self):
        self.out = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.said = []
        self.table = Table(self.out, ["--software"], self.said.append)

    def add(self, line, part=_PART):
        self.table.add(part, part.name, line, "a GPU")

    def test_a_measured_line_replaces_the_one_without_a_value_of_its_part_alone(self):
        other = Part("windows", 10, None, _PART.promises)
        for part in (_PART, other):
            for line in unmeasured(part, "no key"):
                self.add(line, part)
        self.add(figure("gpu_open", "front", 1, "yes=1", YES))
        self.assertEqual([(entry["figure"], entry["case"]) for entry in self.table.entries()],
                         [("gpu_shut", "not_measured_by_doors"), ("gpu_open", "not_measured_by_windows"),
                          ("gpu_shut", "not_measured_by_windows"), ("gpu_open", "front")])

    def test_the_table_says_why_values_are_missing_and_what_the_machine_is(self):
        self.add(unmeasured(_PART, "no key")[0])
        self.add(shown("gpu_hinge", "left", None, "us", refused="rust"))
        self.table.finish({"nvcc": "not installed"}, {"doors": "not run: no key"}, ["Ask for a key."])
        text = (self.out / "table.txt").read_text(encoding="utf-8")
        for line in ("  gpu_open not_measured_by_doors: no key", "  gpu_hinge left: rust", "  nvcc: not installed",
                     "  Ask for a key.", "doors: not run: no key"):
            self.assertIn(line, text.splitlines())
        self.assertEqual(self.said[-1], text)


class JobsOfAWay(unittest.TestCase):
    """Rates a case of which not all was measured."""

    def lines(self, seen):
        rig = Rig(Path(), Path(), Path(), facts={"sms": 132})
        return {line.figure: line for line in job_parts._rate(rig, Case("one", (), None), seen)}

    def seen(self, **changed):
        return Seen(**{"compute": [0.01, 0.01], "link_s": [0.006, 0.006], "alone": [0.016, 0.016],
                       "cycle": {"turns_mps": 0.021, "free_mps": 0.026},
                       "speed_up": {"turns_mps": 1.5, "free_mps": 1.2}, "disturbed": (0.05, 0.5),
                       "refused": {}} | changed)

    def test_a_way_that_fails_leaves_the_others(self):
        lines = self.lines(self.seen(cycle={"turns_timeslicing": 0.03}, speed_up={"turns_timeslicing": 1.0},
                                     refused={"turns_mps": "no MPS: no program"}))
        self.assertIsNone(lines["gpu_eta"].value)
        self.assertEqual(lines["gpu_eta"].remarks["reason"], "no MPS: no program")
        self.assertEqual(lines["gpu_guard"].value, 1.0)
        self.assertIn("not measured: turns_mps: no MPS", lines["gpu_guard"].condition)

    def test_a_control_that_could_not_be_measured_is_not_caught(self):
        whole = self.lines(self.seen())
        lacking = self.lines(self.seen(disturbed=None, refused={"control": "no memory"}))
        self.assertTrue(whole["gpu_guard"].ok)
        self.assertEqual(lacking["gpu_guard"].value, whole["gpu_guard"].value)
        self.assertFalse(lacking["gpu_guard"].ok)

    def test_processes_that_do_not_fit_start_when_they_are_due(self):
        for free_mib, fits in ((80_000, True), (11_264, True), (11_263, False), (0, False)):
            rig = Rig(Path(), Path(), Path(), facts={"free_mib": free_mib})
            self.assertEqual(job_parts.fits_at_once(rig, 11), fits, free_mib)
        rig = Rig(Path(), Path(), Path(), software=True, facts={"free_mib": 80_000})
        self.assertFalse(job_parts.fits_at_once(rig, 11))


class PyTorch(unittest.TestCase):

    def test_nccl_is_the_one_that_pytorch_has_loaded_else_one_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            loaded, beside = top / "opt" / "libnccl.so.2", top / "site" / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
            found = {"torch": "2.11.0", "file": str(top / "site" / "torch"), "nccl": [str(loaded)]}
            with self.assertRaisesRegex(Cannot, "no libnccl.so.2: PyTorch 2.11.0 has loaded none"):
                torch_rig.nccl_folder(found)
            for file in (beside, loaded):
                file.parent.mkdir(parents=True)
                file.touch()
                self.assertEqual(torch_rig.nccl_folder(found), file.parent)
            self.assertEqual(torch_rig.nccl_folder(found | {"nccl": []}), beside.parent)


if __name__ == "__main__":
    unittest.main()
