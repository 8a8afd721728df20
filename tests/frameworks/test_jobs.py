"""Runs unmodified PyTorch on stand-in libraries and the software GPU: one process, a DDP job alone, and two DDP jobs
that take turns."""

import tempfile
import unittest

from simgpu.stand_ins import wanted
from testing.frameworks import records, software_gpu as gpu

_STEPS = 40
# A job that starts later on a busy machine shares fewer of its 40 steps: it has 140 turns where none is lost.
_LEAST_TURNS = 50  # of each job
_LEAST_LAUNCHES = 100  # in each step, of each rank


class Wheel(unittest.TestCase):

    def setUp(self):
        gpu.require(self)

    def test_the_stand_ins_have_every_name_that_the_wheel_wants(self):
        names = wanted.of_libraries(sorted((gpu.SITE / "torch").rglob("*.so*")))
        self.assertGreater(len(names), 700)
        self.assertEqual(wanted.lacking(names, [gpu.STAND_INS, gpu.DRIVER]), [])
        missing = wanted.Name("libcudnn.so.9", "libcudnn.so.9", "cudnnOfTomorrow")
        self.assertEqual(wanted.lacking(names | {missing}, [gpu.STAND_INS, gpu.DRIVER]), [missing])

    def test_the_committed_list_is_that_of_the_wheel(self):
        names = wanted.of_libraries(sorted((gpu.SITE / "torch").rglob("*.so*")))
        self.assertEqual(wanted.read(gpu.TOP / "simgpu/stand_ins/torch-2.15.0.txt"), names)

    def test_no_library_of_nvidia_is_installed(self):
        theirs = [path for path in gpu.SITE.iterdir() if path.name.lower().startswith("nvidia")]
        self.assertEqual([path.name.split("-")[0] for path in theirs], ["nvidia_ml_py"])
        self.assertEqual([path for path in theirs[0].rglob("*") if ".so" in path.name], [])


class OneGpu(unittest.TestCase):

    def test_a_program_that_uses_one_gpu(self):
        gpu.require(self)
        done = gpu.Machine(self.enterContext(tempfile.TemporaryDirectory())).run(gpu.JOBS / "one_gpu.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("refused", done.stderr)
        for line in ("devices 2", "product (256, 512)", "convolution (16, 3, 3, 3)", "mixed torch.bfloat16",
                     "attention (2, 4, 64, 32)", "timed True", "memory True"):
            self.assertIn(line, done.stdout.splitlines())


class Values(unittest.TestCase):
    """Runs a program that compares tensors on the GPU with the same ones on the CPU."""

    def run_program(self, effects):
        gpu.require(self)
        machine = gpu.Machine(self.enterContext(tempfile.TemporaryDirectory()), effects=effects)
        return machine.run(gpu.TOP / "testing" / "frameworks" / "programs" / "values_torch.py")

    def test_fills_copies_and_joins_leave_the_values_of_the_cpu(self):
        done = self.run_program(effects=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"\Avalues: [1-9]\d\d+ compared, 0 different\n")

    def test_without_effects_they_do_not(self):
        done = self.run_program(effects=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"\Avalues: \d+ compared, [1-9]\d* different\nones, torch.float32: expected ")


class Turns(unittest.TestCase):
    """Runs a job alone without the library, and then two under it, one of which launches one kernel more."""

    def test_two_ddp_jobs_take_turns_and_launch_what_they_launch_alone(self):
        gpu.require(self)
        directory = self.enterContext(tempfile.TemporaryDirectory(dir="/dev/shm"))
        machine = self.enterContext(gpu.Machine(directory, kernel_scale=40))
        options = ("--steps", _STEPS)
        said = machine.finish("alone", machine.start("alone", "ddp.py", *options))
        self.assertNotIn("refused", said)
        machine.start_arbiter()
        jobs = {"a": machine.start("a", "ddp.py", *options, library=True),
                "b": machine.start("b", "ddp.py", *options, "--one-more-at", _STEPS // 2, library=True)}
        for job, process in jobs.items():
            said = machine.finish(job, process)
            self.assertEqual(said.count(" done"), 2, said)
            self.assertNotIn("refused", said)
            self.assertNotIn("takes no turns", said)
        turns = machine.turns()
        for job in jobs:
            self.assertGreaterEqual(turns[job], _LEAST_TURNS, turns)
        for rank in (0, 1):
            alone, beside, more = (records.calls(records.of(machine.record(job, rank)))
                                   for job in ("alone", "a", "b"))
            self.assertGreater(records.count(alone), _LEAST_LAUNCHES * _STEPS)
            self.assertEqual(beside, alone)
            self.assertNotEqual(more, alone, "one launch more would be seen")
            self.assertEqual(records.count(more), records.count(alone) + 1)


if __name__ == "__main__":
    unittest.main()
