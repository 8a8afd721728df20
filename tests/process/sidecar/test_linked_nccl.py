"""Trainers that have NCCL linked into them: the library sees their collectives as kernels alone."""

import unittest

from tests.process.sidecar.test_sidecar import Machine, said_by_library

_LINKED = "trainer_static_nccl"
_ITERATIONS, _WATCHED_ITERATIONS = 80, 30


class Linked(unittest.TestCase):
    """With the real arbiter. Losses are those of the program without the library."""

    def jobs(self, options, programs=(_LINKED, _LINKED), iterations=_ITERATIONS, **extra):
        """Two jobs at once; answers with (turns of the first, what it said, what the second said)."""
        machine = Machine(self)
        options = (f"--iterations={iterations}", *options)
        alone, _ = machine.finish("s", machine.start("s", library=None, options=options, program=programs[0]))
        other = machine.start("b", options=(f"--iterations={2 * iterations}",), program=programs[1], **extra)
        summary, said = machine.finish("a", machine.start("a", options=options, program=programs[0], **extra))
        _, said_by_other = machine.finish("b", other)
        self.assertEqual(summary["losses_digest"], alone["losses_digest"])
        events = machine.events()
        self.assertNotIn("open", [event["event"] for event in events], "the watchdog had to")
        turns = sum(event["event"] == "hold" and event["gang"] == "a" for event in events)
        return turns, said_by_library(said), said_by_library(said_by_other)

    def assert_takes_turns(self, *options, programs=(_LINKED, _LINKED), **extra):
        turns, *said = self.jobs(options, programs, **extra)
        self.assertEqual(said, ["", ""])
        self.assertGreater(turns, 40, "turns on both GPUs")

    def test_two_such_jobs_take_turns(self):
        for variant in ("plain", "broadcast_buffers", "loss_allreduce"):
            with self.subTest(variant=variant):
                self.assert_takes_turns(f"--variant={variant}")

    def assert_is_watched(self, reason, *options):
        turns, said, _ = self.jobs(options, iterations=_WATCHED_ITERATIONS)
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
        for variant in ("one_stream", "sync_bn", "sharded"):
            with self.subTest(variant=variant):
                self.assert_is_watched("", f"--variant={variant}")


if __name__ == "__main__":
    unittest.main()
