"""Runs jobs of Horovod 0.28.1, with the PyTorch of the other tests, on the software GPU: with the NCCL that the loader
finds, and with one that is linked into Horovod's library."""

import dataclasses
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing.frameworks import horovod, ways
from testing.frameworks.patterns import Expected, Pattern

_SCRIPT = "horovod_ddp.py"
_ALIKE = "NCCL is linked into the program, and its kernels are all alike"
_NO_PERIOD = ("no iteration of up to 256 collectives repeats; with Horovod, DistributedOptimizer(groups=N) makes the "
              "collectives of all iterations the same")


def _row(name, *arguments, **more):
    """Returns a row whose peak of memory varies by some blocks of 512 bytes."""
    why = "Horovod's thread drops a tensor once it sees that the collective is done, which is sooner or later"
    return Pattern(name, _SCRIPT, arguments, memory_varies=why, **more)


def _is_collective(call):
    return call.startswith("cuLaunchKernelEx")


class Built(unittest.TestCase):
    """Tests what was built."""

    def setUp(self):
        horovod.require(self)
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def symbols(self, package):
        """Returns how the library of a package has ncclAllReduce, as nm does: "U" wanted, "t" hidden."""
        [library] = package.glob("torch/*.so")
        said = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
        return re.findall(r"(\w) ncclAllReduce$", said, re.MULTILINE)

    def test_nccl_is_a_library_or_hidden_in_horovods(self):
        self.assertEqual(self.symbols(horovod.PACKAGE), ["U"])
        horovod.link_nccl(self.directory)
        self.assertEqual(self.symbols(self.directory / "horovod"), ["t"])

    def test_no_path_to_a_library_of_nvidias_is_in_it(self):
        [library] = horovod.PACKAGE.glob("torch/*.so")
        said = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        self.assertIn("[libnccl.so.2]", said)
        self.assertNotRegex(said, "RPATH|RUNPATH")


class Jobs(unittest.TestCase):
    """Runs pairs of jobs, and each job alone."""

    def run_row(self, pattern):
        """Runs a row in all ways. Returns {way: Ran}."""
        horovod.require(self)
        ran = ways.run(pattern, runner=horovod.horovodrun)
        for job in (ran[ways.BESIDE], ran[ways.MORE]):
            why = " | ".join(job.reasons) or "no reason is logged"
            print(f"\n{pattern.name}: {job.turns} turns; {why}", flush=True)
        self.assertEqual(ways.surprises(pattern, ran), [])
        return ran

    def compare(self, pattern):
        """Runs a row in all ways and compares all calls."""
        self.assertEqual(ways.differences(pattern, self.run_row(pattern)), [])

    def test_gradients_in_one_group_take_turns(self):
        self.compare(_row("groups", "--groups", "1", steps=60))

    def test_so_they_do_where_streams_wait_instead_of_the_host(self):
        self.compare(_row("groups_async", "--groups", "1", steps=60,
                          environment=(("HOROVOD_ENABLE_ASYNC_COMPLETION", "1"),)))

    def test_gradients_as_they_come_have_no_period(self):
        """The number of gradients that Horovod reduces at once depends on the time, and so do its thread's calls."""
        ran = self.run_row(_row("fused", steps=200, expected=Expected.WATCHED, reason=_NO_PERIOD, most_turns=20))
        for rank in (0, 1):
            alone, *others = ([calls for calls in job.calls(rank) if not any(map(_is_collective, calls))]
                              for job in (ran[way] for way in (ways.ALONE, ways.UNDER, ways.BESIDE)))
            self.assertEqual(len(alone), 2)  # forward and backward
            self.assertEqual(others, [alone, alone])

    def run_linked(self, pattern):
        """Runs a row with NCCL linked in, in all ways, and compares all calls."""
        horovod.require(self)
        directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        horovod.link_nccl(directory)
        self.compare(dataclasses.replace(pattern, environment=(("PYTHONPATH", str(directory)),)))

    def test_with_nccl_linked_in_one_group_and_a_count_take_turns(self):
        self.run_linked(_row("linked_count", "--groups", "1", "--count", steps=60))

    def test_with_nccl_linked_in_one_group_is_watched(self):
        self.run_linked(_row("linked", "--groups", "1", steps=280, expected=Expected.WATCHED, reason=_ALIKE))


if __name__ == "__main__":
    unittest.main()
