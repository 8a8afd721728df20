"""Tests that the constants of the software GPU are frozen: the kept baseline names those that hold now."""

import json
import re
import unittest

from benchmarks.quality import constants
from testing import machine
from tests.docs.pages import TREE

_BASELINE = TREE / "benchmarks" / "results" / "simgpu_error.jsonl"
_RETAKE = ("take simgpu_error again, and with it every figure of the software GPU: "
           "python3 -m benchmarks.run --only simgpu_error")
# These declarations are no constants of the model: they are units, bounds, and what follows a failure.
_OTHERS = {"kMicrosecond", "kMillisecond", "kNever", "kUnlimited", "kGrace", "kWholeGpu"}
# These folders say what kernels of other programs cost. No kept figure runs such a kernel.
_COSTS = ("kernels", "math")


def stale(entries, digest):
    """Returns the cases of a baseline that was taken with other constants, or does not say with which."""
    return [entry["case"] for entry in entries if entry.get("remarks", {}).get("constants") != digest]


def scattered(text):
    """Returns the times that a source file declares itself."""
    found = re.findall(r"constexpr (?:Nanos|double) (k\w+) = (?!constants::)", text)
    return [name for name in found if name not in _OTHERS]


class Constants(unittest.TestCase):
    def test_the_baseline_is_of_these_constants(self):
        entries = [json.loads(line) for line in _BASELINE.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(stale(entries, constants.digest()), [], _RETAKE)

    def test_a_changed_constant_makes_the_baseline_stale(self):
        """The control changes each constant."""
        text, digest = constants.FILE.read_text(encoding="utf-8"), constants.digest()
        kept = [{"case": "a", "remarks": {"constants": digest}}, {"case": "b"}]
        self.assertEqual(stale(kept, digest), ["b"])
        self.assertGreater(len(constants.values()), 30)
        for name, value in constants.values().items():
            changed = re.sub(rf"({name} = )[^;]+;", r"\g<1>77;", text)
            self.assertNotEqual(value, "77")
            self.assertEqual(stale(kept, constants.digest(changed)), ["a", "b"], name)
        self.assertEqual(constants.digest("// a comment\n" + text), digest)

    def test_every_line_that_declares_a_constant_is_read(self):
        text = constants.FILE.read_text(encoding="utf-8")
        self.assertEqual(text.count("constexpr"), len(constants.values()))

    def test_no_file_of_the_software_gpu_has_times_of_its_own(self):
        for path in sorted((TREE / "simgpu").rglob("*.[hc]*")):
            if path != constants.FILE and path.suffix in (".h", ".cc") and path.parent.name not in _COSTS:
                self.assertEqual(scattered(path.read_text(encoding="utf-8")), [], path)
        self.assertEqual(scattered("constexpr Nanos kLate = 60'000;"), ["kLate"], "the control")

    def test_figures_ask_for_the_same_defaults(self):
        values, default = constants.values(), machine.Machine()
        self.assertEqual([str(machine.SMS), str(default.quantum_us), str(default.launch_us), str(default.queue_depth),
                          str(default.nccl_ctas)],
                         [values[name] for name in ("kSms", "kQuantumUs", "kLaunchUs", "kQueueDepth", "kNcclCtas")])
        self.assertEqual([default.co_run, default.collective_slowdown],
                         [float(values[name]) for name in ("kCoRun", "kCollectiveSlowdown")])


if __name__ == "__main__":
    unittest.main()
