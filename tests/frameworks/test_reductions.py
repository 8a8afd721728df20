"""Tests examples/pytorch/ddp_reductions with unmodified PyTorch: its parts in one process, trainings of 2 and 4
processes on the CPU over gloo, and what reaches the NCCL of the software GPU."""

import functools
import json
import math
import re
import tempfile
import unittest
from pathlib import Path

from testing.frameworks import software_gpu as gpu
from testing.ports import free_port

_PACKAGE = gpu.TOP / "examples" / "pytorch"
_PROGRAMS = gpu.TOP / "testing" / "frameworks" / "programs"


def _facts(*command):
    """Runs a program. Returns {subject: {fact: value}}."""
    with tempfile.TemporaryDirectory() as directory:
        machine = gpu.Machine(directory)
        machine.environment["PYTHONPATH"] = str(_PACKAGE)
        done = machine.run(*command)
    if done.returncode:
        raise AssertionError(f"{command[-1]} ended with {done.returncode}: {done.stderr}")
    facts = {}
    for line in done.stdout.splitlines():
        facts |= json.loads(line)
    return facts


@functools.cache
def _numbers():
    return _facts(_PROGRAMS / "reductions_numbers.py")


@functools.cache
def _of_ranks(ranks):
    return _facts("-m", "torch.distributed.run", f"--nproc-per-node={ranks}", f"--master-port={free_port()}",
                  _PROGRAMS / "reductions_ranks.py")


class ReductionParts(unittest.TestCase):
    """Tests the parts of the package, without an exchange."""

    def setUp(self):
        gpu.require(self)

    def test_exactly_k_are_taken_and_nothing_is_lost(self):
        facts = _numbers()["taken"]
        self.assertEqual((facts["cases"], facts["exactly k"], facts["x = sparse + residual"]), (72, True, True))
        self.assertGreater(facts["least energy"], 1 - 1e-6, "of the largest k")
        self.assertEqual(facts["NaN is taken"], [1])

    def test_levels_have_no_bias_and_the_error_of_the_formula(self):
        facts = _numbers()["levels"]
        for bits, bias in facts["bias"].items():
            self.assertLess(bias, 0.045, f"4 sigma, {bits} bits")  # in steps
        self.assertGreater(facts["bias to the nearest"], 0.4, "the control")
        for bits, error in facts["error in u^2"].items():
            self.assertAlmostEqual(error, 1, delta=0.03, msg=f"of u^2 / 6, {bits} bits")
        self.assertEqual((facts["cases"], facts["lengths"], facts["within a step"]), (108, True, True))
        self.assertEqual(facts["bytes"], [7 * (8 + 64) + 8 + 52, 4000])

    def test_levels_of_values_that_are_not_finite_tiny_or_equal(self):
        facts = _numbers()["limits"]
        self.assertTrue(facts["scaled"])
        self.assertLess(facts["tiny"], 0.02)
        self.assertEqual(facts["spoilt"], dict.fromkeys(("nan", "inf", "-inf"), [128, 128, 128]))
        self.assertEqual(facts["beyond the largest"], 16)
        for name in ("zeros", "constant", "subnormal", "subnormal range"):
            self.assertTrue(facts[name], name)

    def test_bits_are_those_of_the_fewest_bytes(self):
        facts = _numbers()["knapsack"]
        self.assertLess(facts["most bytes over the best"], 0.02)
        self.assertLessEqual(facts["most error of the budget"], 1 + 1e-12)
        self.assertEqual(facts["equal layers"], 6 * [4])
        self.assertEqual(facts["no errors"], 3 * [2])
        self.assertEqual(facts["not finite"], [8, 8])
        self.assertEqual(facts["more layers than parts"], 6 * [8])

    def test_parts_have_all_elements_and_are_cut_at_buckets(self):
        facts = _numbers()["parts"]
        for what in ("all elements once", "cut at buckets", "whatever is in the bucket"):
            self.assertTrue(facts[what], what)
        self.assertLessEqual(facts["buckets above the mean"], 1)
        self.assertEqual(facts["parts with small layers"], 4)

    def test_coefficients_of_adasum(self):
        self.assertEqual(_numbers()["coefficients"], {
            "equal": ["0.5", "0.5"], "orthogonal": ["1.0", "1.0"], "no a": ["1.0", "1.0"], "NaN": ["nan", "nan"],
            "opposite": ["1.5", "1.5"], "below the least": ["1.0", "1.0"]})

    def test_rules_that_are_refused(self):
        expected = ("bucket: .* got 100", "least_bits, most_bits: .* got 0 and 8", "most_bits: .* got 2 and 13",
                    "uniform_bits: .* got 1", "alpha: .* got inf", "alpha: .* got 0", "parts: .* got 0")
        said = _numbers()["refused"]
        self.assertEqual(len(said), len(expected))
        for text, pattern in zip(said, expected):
            self.assertRegex(text, pattern)


class _Ranks:
    """Tests trainings of `ranks` processes."""

    ranks = 0

    def setUp(self):
        gpu.require(self)

    def facts(self, subject):
        return _of_ranks(self.ranks)[subject]

    def test_topk_does_what_its_paper_states(self):
        facts = self.facts("topk_numbers")
        self.assertTrue(facts["equal"])
        for what in ("as stated", "rate falls", "rate of 0", "two batches"):
            self.assertEqual(facts[what], 0, f"{what}: to the last bit")
        for what in ("tiny buckets", "views", "static graph"):
            self.assertTrue(facts[what], what)
        self.assertGreater(facts["rate falls, residual does not"], 1e-4, "the control")
        self.assertEqual(facts["bytes"], facts["bytes by the formula"])

    def test_topk_keeps_residuals_by_parameter(self):
        facts = self.facts("topk_buckets")
        self.assertTrue(facts["by parameter"])
        self.assertIn("must match the size", facts["a residual of a bucket"], "the control")

    def test_topk_heeds_the_scale_of_the_loss(self):
        facts = self.facts("topk_scale")
        for what in ("equal", "as without a scale", "as without the step", "residuals stay",
                     "the first step is skipped"):
            self.assertTrue(facts[what], what)
        self.assertEqual((facts["skipped"], facts["skipped without a scale"]), ([5], [5]))
        self.assertEqual(facts["scale"], 2.0**10 * 2**2 / 2 * 2**3)  # of 12 steps, the sixth one is skipped
        self.assertGreater(facts["with residuals in the scale of the loss"], 1e-3, "the control")

    def test_topk_goes_on_from_a_checkpoint(self):
        facts = self.facts("topk_checkpoint")
        for name in ("", ", behind a step that was skipped"):
            self.assertEqual(facts[f"with the residual{name}"], 0)
            self.assertGreater(facts[f"without the residual{name}"], 1e-3, "the control")
        expected = ("ranks: expected .* got 64: .* Resume with", "rank: expected .* got 64",
                    "unit: expected .* got gradients",
                    "residuals: .* difference at 0.bias", r"residual of 0.bias: expected the shape \(64,\), got \(3,\)")
        for said, pattern in zip(facts["refused"], expected, strict=True):
            self.assertRegex(said, pattern)
        last = facts["channels last"]
        self.assertTrue(last["another order"] and last["loaded"])
        self.assertLess(last["difference"], 1e-5 * last["largest"])

    def test_topk_finds_the_bottom_of_a_bowl(self):
        facts = self.facts("topk_quality")
        self.assertLess(facts["with the residual"], 0.1)
        self.assertGreater(facts["without"], 0.2, "the control")
        self.assertGreater(facts["without, longer"], 0.9 * facts["without"], "the control stalls")

    def test_topk_refuses_in_words(self):
        expected = ("TypeError: model: expected DistributedDataParallel, got Sequential",
                    "ValueError: find_unused_parameters: expected False, got True",
                    "TypeError: module rows: expected dense gradients, got sparse=True",
                    "TypeError: parameter 0.weight: expected torch.float32, got torch.float16",
                    "ValueError: model: expected all parameters on one device, got cpu, meta",
                    "ValueError: density: .* got 0$", "ValueError: density: .* got 1.5",
                    "ValueError: density: .* got nan",
                    "TypeError: scaler: expected torch.amp.GradScaler or None, got float",
                    "TypeError: optimizer: expected torch.optim.SGD.* got Adam",
                    "ValueError: optimizer: .* got none of 0",
                    "ValueError: bucket 0: .* got one of another model", "ValueError: join: expected")
        for said, pattern in zip(self.facts("topk_refused")["said"], expected, strict=True):
            self.assertRegex(said, pattern)

    def test_adaptive_chooses_bits_by_layer(self):
        facts = self.facts("adaptive_numbers")
        for what in ("equal", "bits equal", "tiny buckets", "NaN on all", "bias is exact"):
            self.assertTrue(facts[what], what)
        for what in ("bits", "fine bits"):  # gradients of later layers are larger
            self.assertGreaterEqual(facts[what][-1], facts[what][0] + 2)
            self.assertEqual(max(facts[what]), facts[what][-1])
        errors, received = facts["errors"], facts["bytes"]
        for name, uniform in (("adaptive", "uniform"), ("fine", "eight")):
            self.assertLess(errors[name], 1.05 * errors[uniform])
            self.assertLess(received[name], 0.85 * received[uniform])
        self.assertEqual([received["uniform"], received["tiny buckets"]], 2 * [facts["uniform bytes by the formula"]])

    def test_adaptive_has_no_bias_and_trains(self):
        facts = self.facts("adaptive_numbers")
        self.assertLess(facts["noise of the mean of 300 steps"], 2 / math.sqrt(300))
        for name, loss in facts["losses"].items():
            self.assertAlmostEqual(loss, facts["exact loss"], delta=0.05 * facts["exact loss"], msg=name)

    def test_adaptive_goes_on_from_a_checkpoint(self):
        facts = self.facts("adaptive_checkpoint")
        self.assertEqual(facts["with the state"], 0)
        self.assertGreater(facts["with another"], 0, "the control")
        expected = ("bits: .* difference at layers.0.weight", "bits of layers.0.weight: expected 2 to 8, got 9",
                    "every: expected 1 or more, got 0")
        for said, pattern in zip(facts["refused"], expected, strict=True):
            self.assertRegex(said, pattern)

    def test_adasum_is_that_of_its_paper(self):
        facts = self.facts("adasum_numbers")
        for what in ("equal", "equal vectors", "orthogonal", "scaled", "NaN equal"):
            self.assertTrue(facts[what], what)
        self.assertLess(facts["error"], 1e-13)
        self.assertGreater(facts["one product for all"], 1e-6, "the control")
        self.assertEqual((facts["NaN"], facts["one element"]), ([0, 0, 3, 0], 3.0))
        self.assertEqual(facts["bytes"], facts["bytes by the formula"])

    def test_adasum_trains(self):
        facts = self.facts("adasum_training")
        self.assertTrue(facts["equal"] and facts["finite"] and facts["the others' step counts"])
        first, last, adam_first, adam_last = facts["losses"]
        self.assertLess(last, 0.8 * first)
        self.assertLess(adam_last, 0.8 * adam_first)
        self.assertEqual(facts["scales"], [512.0 if rank == 1 else 1024.0 for rank in range(self.ranks)])
        self.assertLess(facts["bowl"], 1e-6)
        if self.ranks > 2:
            self.assertGreater(facts["bowl, sum"], 1e3, "the control")

    def test_adasum_refuses_in_words(self):
        expected = ["TypeError: model: .* got DistributedDataParallel, which averages",
                    "TypeError: optimizer: .* got ZeroRedundancyOptimizer", "ValueError: optimizer: .* got others",
                    "TypeError: parameter weight: expected torch.float32, got torch.float16",
                    r"TypeError: optimizer: .*AdasumOptimizer.step\(scaler\)", "ValueError: ranks: .* got 64"]
        if self.ranks > 2:
            expected.append("ValueError: ranks: expected a power of two, .* got 3")
        for said, pattern in zip(self.facts("adasum_training")["refused"], expected, strict=True):
            self.assertRegex(said, pattern)


class ReductionsOfTwo(_Ranks, unittest.TestCase):
    ranks = 2


class ReductionsOfFour(_Ranks, unittest.TestCase):
    ranks = 4


class ReductionTraffic(unittest.TestCase):
    """Counts what ranks receive on the software GPU, by the reports of its NCCL. Starting a job costs bytes, too, and
    so does its second step, in which buckets are formed anew: both jobs of a row have these, and differ in steps."""

    few, many = 3, 8

    def received(self, reduction, ranks, steps, *options):
        """Returns (bytes that all ranks have received, those that they expect for the reduction, elements of each
        parameter)."""
        directory = self.enterContext(tempfile.TemporaryDirectory(dir="/dev/shm"))
        machine = self.enterContext(gpu.Machine(directory, gpus=ranks))
        reports = Path(directory, "reports")
        reports.mkdir()
        variables = (("SIMGPU_REPORT", str(reports)), ("PYTHONPATH", str(_PACKAGE)))
        job = machine.start(reduction, "reductions.py", "--reduction", reduction, "--steps", steps, *options,
                            environment=variables, recorded=False)
        said = machine.finish(reduction, job)
        self.assertNotIn("refused", said)
        lines = re.findall(r"rank \d+ of (\d+) expects (\d+) bytes, parameters (.*)", said)
        self.assertEqual([line[0] for line in lines], ranks * [str(ranks)], said)
        counted = sum(sum(json.loads(path.read_text(encoding="utf-8"))["received_bytes"].values())
                      for path in reports.glob("*.json"))
        return counted, sum(int(line[1]) for line in lines), json.loads(lines[0][2])

    def of_a_step(self, reduction, ranks, *options):
        """Returns (counted bytes, expected bytes, elements) of a step of all ranks."""
        few, many = (self.received(reduction, ranks, steps, *options) for steps in (self.few, self.many))
        counted, expected = ((many[i] - few[i]) / (self.many - self.few) for i in (0, 1))
        return counted, expected, few[2]

    def test_bytes_that_travel_are_those_of_the_formulas(self):
        gpu.require(self)
        mean, none, elements = self.of_a_step("mean", 2)
        self.assertEqual((mean, none), (2 * 4 * sum(elements), 0))
        for ranks in (2, 4):
            topk, said, _ = self.of_a_step("topk", ranks, "--density", 0.01)
            taken = sum(max(1, math.ceil(0.01 * count)) for count in elements)
            self.assertEqual([topk, said], 2 * [ranks * (ranks - 1) * 8 * taken])
        with_scale, said, _ = self.of_a_step("topk", 2, "--amp")
        self.assertEqual(with_scale, said)
        for reduction in ("adaptive", "adasum"):
            counted, expected, _ = self.of_a_step(reduction, 2)
            self.assertEqual(counted, expected, reduction)


if __name__ == "__main__":
    unittest.main()
