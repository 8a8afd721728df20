"""Runs the commands by which the stand-ins' README tells readers to run a PyTorch program of their own."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing.frameworks import software_gpu as gpu

_README = gpu.TOP / "simgpu" / "stand_ins" / "README.md"
_STEPS, _RANKS = 20, 2  # as the commands say


def commands():
    """Returns the lines of the block that is to be pasted, without those that install and build."""
    section = _README.read_text(encoding="utf-8").partition("\n## Run your own program\n")[2]
    lines = re.search(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[1].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("cd "))
    return lines[first:]


class Readme(unittest.TestCase):

    def run_in_a_tree(self, lines):
        """Runs lines of a shell in a folder that has the example and what was built, where the commands expect them."""
        gpu.require(self)
        top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (top / "build").mkdir()
        (top / "build" / "dev").symlink_to(gpu.BUILD)
        (top / "examples").symlink_to(gpu.TOP / "examples")
        (top / "home" / ".cache" / "crossover").mkdir(parents=True)
        (top / "home" / ".cache" / "crossover" / "torch-1").symlink_to(gpu.CACHE)
        environment = {"PATH": os.environ["PATH"], "HOME": str(top / "home"), "LC_ALL": "C.UTF-8",
                       "PYTHONDONTWRITEBYTECODE": "1", "SIMGPU_STATE": str(top / "state")}
        return subprocess.run(["bash", "-e", "-c", "\n".join(lines)], cwd=top, env=environment, capture_output=True,
                              stdin=subprocess.DEVNULL, text=True, timeout=gpu.PATIENCE_S, check=False)

    def test_the_commands_train(self):
        done = self.run_in_a_tree(commands())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("refused", done.stderr)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sum("step" in line for line in said), _STEPS * _RANKS, done.stdout)
        means = {line["step"]: line["mean_token"] for line in said if "mean_token" in line}
        self.assertEqual(len(means), _STEPS // 10)
        for mean in means.values():
            self.assertTrue(400 < mean < 600, means)  # of tokens from 0 to 999, through the GPU and an all-reduce

    def test_without_the_line_that_finds_the_stand_ins_they_do_not(self):
        done = self.run_in_a_tree([line for line in commands() if not line.startswith("export ")])
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "lib[a-zA-Z]+.so.[0-9]+: cannot open shared object file")


if __name__ == "__main__":
    unittest.main()
