"""Tests examples/pytorch/batch_shares.py with unmodified PyTorch: four processes on the CPU, over gloo."""

import ast
import random
import tempfile
import unittest

from testing.frameworks import software_gpu as gpu
from testing.ports import free_port

_PROGRAM = gpu.TOP / "testing" / "frameworks" / "programs" / "shares_torch.py"
_DIVIDE = """
import sys
sys.path.insert(0, sys.argv[1])
from batch_shares import divide, parse_weights
for line in sys.stdin:
    batch, *weights = map(int, line.split())
    print(*divide(batch, weights))
for text in ("1 2", "1 0 1", "1 1.5 1", "1 x 1", "1 1000001 1"):
    try:
        parse_weights("FILE", text, 3)
    except ValueError as error:
        print(error)
"""


class Shares(unittest.TestCase):

    def setUp(self):
        gpu.require(self)
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.machine = gpu.Machine(self.directory)

    def test_unequal_shares_have_the_gradient_of_the_whole_batch(self):
        done = self.machine.run("-m", "torch.distributed.run", "--nproc-per-node=4", f"--master-port={free_port()}",
                                _PROGRAM, self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        self.assertEqual(said["steps"], "8", "of an epoch")
        # The loader asks for the shares of a step one step before. Rank 3 has the new weights from the vote at 10 on.
        self.assertEqual(ast.literal_eval(said["shares"]), 10 * [[12, 11, 6, 3]] + 14 * [[4, 4, 4, 20]])
        self.assertLess(float(said["error"]), 1e-12)
        self.assertGreater(float(said["unweighted"]), 1e-3, "the control")

    def test_it_divides_as_the_trainer_does(self):
        draws = random.Random(1)
        cases = [(44, 1000, 1000, 500, 250), (32, 1000, 1000, 500, 250), (10, 1, 1, 1), (4, 1_000_000, 1, 1, 1)]
        for _ in range(200):
            weights = [draws.randint(1, 1_000_000) for _ in range(draws.randint(1, 32))]
            cases.append((len(weights) + draws.randint(0, 1000), *weights))
        done = gpu.subprocess.run([gpu.PYTHON, "-c", _DIVIDE, gpu.TOP / "examples" / "pytorch"],
                                  input="\n".join(" ".join(map(str, case)) for case in cases),
                                  env=self.machine.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:4], ["16 16 8 4", "12 11 6 3", "4 3 3", "1 1 1 1"])
        for case, line in zip(cases, lines):
            self.assertEqual(sum(map(int, line.split())), case[0])
        expected = "expected a whole number from 1 to 1000000"
        self.assertEqual(lines[len(cases):], [
            "FILE: weights: expected one for each of 3 ranks, got 2", f"FILE: weight of rank 1: {expected}, got 0",
            f"FILE: weight of rank 1: {expected}, got 1.5", f"FILE: weight of rank 1: {expected}, got x",
            f"FILE: weight of rank 1: {expected}, got 1000001"])


if __name__ == "__main__":
    unittest.main()
