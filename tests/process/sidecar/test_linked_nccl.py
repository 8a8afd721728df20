"""Tests trainers that have NCCL linked into them: the library sees their collectives only as kernels."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.process.sidecar.test_sidecar import BIN, LIBRARY, SIMGPU, Machine, run, run_beside

_LINKED = "trainer_static_nccl"
_ITERATIONS, _WATCHED_ITERATIONS = 80, 30


class Linked(unittest.TestCase):
    """Runs with the real arbiter. Losses are those of the program without the library."""

    def jobs(self, options, programs=(_LINKED, _LINKED), iterations=_ITERATIONS, **extra):
        """Runs two jobs at once. Returns (turns of the first, the library's lines in the first, its lines in the
        second)."""
        return run_beside(self, iterations, options, programs=programs, **extra)

    def assert_takes_turns(self, *options, programs=(_LINKED, _LINKED), **extra):
        turns, *said = self.jobs(options, programs, **extra)
        self.assertEqual(said, ["", ""])
        self.assertGreater(turns, 40, "turns on both GPUs")

    def test_two_such_jobs_take_turns(self):
        for variant in ("plain", "broadcast_buffers", "loss_allreduce"):
            with self.subTest(variant=variant):
                self.assert_takes_turns(f"--variant={variant}")

    def assert_is_watched(self, reason, *options, iterations=_WATCHED_ITERATIONS):
        turns, said, _ = self.jobs(options, iterations=iterations)
        self.assertIn(reason, said)
        self.assertEqual(turns, 0)

    def test_beside_a_job_that_loads_its_nccl(self):
        self.assert_takes_turns(programs=(_LINKED, "trainer"))
        self.assert_takes_turns(programs=("trainer", _LINKED))

    def test_host_gates(self):
        self.assert_takes_turns(CROSSOVER_GATES="host")

    def test_gradients_joined_by_polling_on_the_host(self):
        self.assert_takes_turns("--join=host")

    def test_compute_on_streams_of_its_own(self):
        for stream in ("own", "per-thread"):
            with self.subTest(stream=stream):
                self.assert_takes_turns(f"--stream={stream}")

    def test_threads_that_come_and_go(self):
        self.assert_takes_turns("--launch=threads")

    def test_graphs_of_compute(self):
        self.assert_takes_turns("--launch=graphs", "--stream=own")

    def test_non_blocking_communicators_launch_from_threads_of_their_own(self):
        self.assert_takes_turns("--nccl=nonblocking")

    def test_a_split_communicator(self):
        self.assert_takes_turns("--nccl=split")

    def test_two_communicators(self):
        self.assert_takes_turns("--nccl=two", "--variant=broadcast_buffers")

    def test_communicators_that_are_aborted_and_made_again(self):
        self.assert_takes_turns("--abort-every=40")

    def test_collectives_between_all_layers(self):
        for variant in ("sync_bn", "sharded"):
            with self.subTest(variant=variant):
                self.assert_is_watched("or an iteration has more than 4 turns; CROSSOVER_TURNS_AT_WAITS=1",
                                       f"--variant={variant}", iterations=80)

    def test_kernels_that_are_all_alike(self):
        self.assert_is_watched("its kernels are all alike", "--variant=one_stream", iterations=60)

    def profiled(self, machine, job, **start):
        """Returns what a user's profiler plugin has written of both ranks, while another job takes turns with this
        one."""
        path = machine.directory / f"{job}.profiled"
        machine.finish(job, machine.start(job, NCCL_PROFILER_PLUGIN=os.environ["PROFILER"], PROFILED=str(path),
                                          options=(f"--iterations={_WATCHED_ITERATIONS}",), **start))
        return {rank: Path(f"{path}.{rank}.0").read_text(encoding="utf-8").splitlines() for rank in "01"}

    def test_a_plugin_of_the_users_hears_what_it_would_without_us(self):
        for program in (_LINKED, "trainer"):
            with self.subTest(program=program):
                machine = Machine(self)
                plain = self.profiled(machine, "s", library=None, program=program)
                other = machine.start("b", options=(f"--iterations={2 * _ITERATIONS}",), program=program)
                beside = self.profiled(machine, "a", program=program)
                machine.finish("b", other)
                self.assertEqual(beside, plain)
                for events in plain.values():
                    self.assertEqual((events[0], events[-1]), ("init 1 2 " + events[0][-1], "finalize"))
                    self.assertGreater(sum(event.startswith("start ") for event in events), _WATCHED_ITERATIONS)
                self.assertIn(("hold", "a"), [(event["event"], event.get("gang")) for event in machine.events()])

    def test_without_a_look_at_kernels_no_turn_would_be_taken(self):
        library = BIN.parent / "lib/libcrossover_calls_only.so"
        if not library.exists():
            self.fail("no libcrossover_calls_only.so was built")
        turns, *_ = self.jobs((), library=str(library))
        self.assertEqual(turns, 0, "with as many iterations as above")


class Refused(unittest.TestCase):
    """Where the kernels do not tell enough, the library says so and only watches."""

    TWO = "crossover: this process takes no turns: NCCL is linked into the program and loaded as a library too"
    SEVERAL = "crossover: this process takes no turns: one process drives several GPUs"

    def setUp(self):
        self.environment = {"SIMGPU_MACHINE": "1x2", "LD_LIBRARY_PATH": SIMGPU, "CROSSOVER_GANG": "a",
                            "CROSSOVER_SOCKET": "/nonexistent", "LD_PRELOAD": LIBRARY}

    def ranks(self, scenario):
        """Runs both ranks to their end. Returns what each wrote."""
        with tempfile.TemporaryDirectory() as directory:
            environment = {**os.environ, **self.environment}
            command = [os.environ["LINKED_NCCL"], scenario, str(Path(directory) / "ids")]
            ranks = [subprocess.Popen([*command, rank], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) for rank in "01"]
            written = [rank.communicate(timeout=60) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], written)
        return written

    def test_an_nccl_in_the_program_and_another_beside_it(self):
        for order in ("linked-first", "loaded-first"):
            for output, said in self.ranks(order):
                self.assertEqual(sorted(output.splitlines()), ["linked 3", "loaded 3"], order)
                self.assertEqual(said.count(self.TWO), 1, said)

    def test_one_of_them_alone_is_no_reason(self):
        for alone in ("linked", "loaded"):
            for output, said in self.ranks(alone):
                self.assertEqual(output, f"{alone} 3\n")
                self.assertNotIn("takes no turns", said)

    def test_several_gpus_of_one_process(self):
        for scenario, name in (("several-gpus", "linked"), ("several-gpus-loaded", "loaded"),
                               ("several-gpus-one-by-one", "loaded"), ("several-gpus-threads", "loaded")):
            done = run([os.environ["LINKED_NCCL"], scenario], **self.environment)
            self.assertEqual(done.stdout, f"{name} 3\n{name} 3\n")
            self.assertEqual(done.stderr.count(self.SEVERAL), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
