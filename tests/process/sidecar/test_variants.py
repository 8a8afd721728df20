"""Tests trainers of many kinds beside a plain one: which take turns, which are only watched, and that none is
harmed."""

import os
import unittest

from tests.process.sidecar.test_sidecar import Machine, await_event, run_beside, said_by_library

_ITERATIONS, _WATCHED_ITERATIONS = 80, 30
# Gradients go through the host here. The job needs enough launches before the first turn, and enough turns besides
# those in which the guard tries other modes.
_BY_HOST, _BY_HOST_ITERATIONS = ("--gradients=host", "--exchange-ms=12"), 220


class Variants(unittest.TestCase):
    """Runs each kind beside a plain job, with the real arbiter. Its losses are those that it has without the
    library."""

    def beside_a_plain_job(self, iterations, options):
        """Runs both jobs to their end. Returns (turns of the first, the library's lines in its ranks)."""
        turns, said, said_by_plain = run_beside(self, iterations, options)
        self.assertEqual(said_by_plain, "", "the plain job was not told off")
        return turns, said

    def assert_takes_turns(self, *options):
        turns, said = self.beside_a_plain_job(_ITERATIONS, options)
        self.assertEqual(said, "")
        self.assertGreater(turns, 40, "turns on both GPUs")

    def assert_is_watched(self, reason, *options):
        turns, said = self.beside_a_plain_job(_WATCHED_ITERATIONS, options)
        if reason:
            self.assertIn(reason, said)
        else:
            self.assertEqual(said, "", "it is learned still, and nothing is said of that")
        self.assertEqual(turns, 0)

    def test_one_connection_to_the_gpu(self):
        """Run beside a plain job with the same environment, in which both are only watched."""
        turns, said, _ = run_beside(self, _WATCHED_ITERATIONS, CUDA_DEVICE_MAX_CONNECTIONS="1")
        self.assertIn("takes no turns: CUDA_DEVICE_MAX_CONNECTIONS is 1", said)
        self.assertEqual(turns, 0)

    def test_gradients_joined_by_polling_on_the_host(self):
        self.assert_takes_turns("--join=host")

    def test_per_thread_default_stream(self):
        self.assert_takes_turns("--stream=per-thread")

    def test_graphs_of_compute(self):
        self.assert_takes_turns("--launch=graphs", "--stream=own")

    def test_sums_of_all_layers_that_are_alike(self):
        """Each of them looks like an iteration. A turn between two of them is short, and waits for no other rank."""
        self.assert_takes_turns("--variant=tensor")

    def test_forked_data_loaders(self):
        self.assert_takes_turns("--loader=fork")

    def test_calls_with_settings(self):
        self.assert_takes_turns("--nccl=config")

    def test_a_split_communicator(self):
        self.assert_takes_turns("--nccl=split")

    def test_two_communicators(self):
        self.assert_takes_turns("--nccl=two", "--variant=broadcast_buffers")

    def test_communicators_that_are_aborted_and_made_again(self):
        self.assert_takes_turns("--abort-every=40")

    def test_collectives_between_all_layers(self):
        inner = "compute waits for collectives inside its turns, or an iteration has more than 4 turns"
        # The reason is told after 256 collectives, which the first two do not make.
        for reason, *options in (("", "one_stream"), ("", "sync_bn"), (inner, "sharded"), (inner, "experts"),
                                 (inner, "experts", "--routing=varying")):
            with self.subTest(options=options):
                self.assert_is_watched(reason, f"--variant={options[0]}", *options[1:])

    def test_turns_that_end_at_waits(self):
        """Run beside a job of the same kind and beside a plain one, with the environment for both."""
        sharded, ahead, norm = ("--variant=sharded",), ("--variant=sharded", "--prefetch=2"), ("--variant=sync_bn",)
        host, tensor = ("--variant=sharded", "--join=host"), ("--variant=tensor",)
        experts, varying = ("--variant=experts",), ("--variant=experts", "--routing=varying")
        for options, beside in ((sharded, ()), (sharded, sharded), (ahead, ahead), (norm, norm), (host, host),
                                (tensor, tensor), (experts, experts), (varying, tensor)):
            with self.subTest(options=options, beside=beside):
                turns, said, other = run_beside(self, _ITERATIONS, options, beside, CROSSOVER_TURNS_AT_WAITS="1")
                self.assertEqual((said, other), ("", ""))
                self.assertGreater(turns, 400, "of both GPUs together: more than two in each iteration")

    def test_non_blocking_communicators(self):
        self.assert_is_watched("a communicator is non-blocking", "--nccl=nonblocking")

    def odd_beside_a_plain_job(self, then, **extra):
        """Runs a job that takes turns and then does something odd. Returns (its events, the library's lines in it). The
        guard is off: the job is to take turns at the moment when it does that."""
        machine = Machine(self, arbiter_options=("--guard", "off"))
        other = machine.start("b", options=("--iterations=100000",))
        await_event(machine, "hold", 10)  # it runs by itself
        ranks = machine.start("a", program=os.environ["CAPTURED"], IDS=str(machine.directory / "ids"), THEN=then,
                              **extra)
        said = [rank.communicate(timeout=60)[1] for rank in ranks]
        await_event(machine, "leave", len(ranks))
        for rank in other:
            rank.kill()
            rank.communicate()
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], said)
        events = [event for event in machine.events() if event.get("gang") == "a"]
        self.assertGreater(sum(event["event"] == "hold" for event in events), 20, "it has taken turns before")
        return events, said_by_library(said)

    def test_a_context_that_ends_while_training_goes_on(self):
        for gates in ("gpu", "relay", "host"):
            with self.subTest(gates=gates):
                _, said = self.odd_beside_a_plain_job(then="reset", CROSSOVER_GATES=gates)
                self.assertEqual(len(said.strip().splitlines()), 2, said)
                self.assertEqual(said.count("takes no turns: its GPU context has ended"), 2, "of each rank once")

    def test_a_context_that_ends_with_the_program(self):
        self.assertEqual(self.odd_beside_a_plain_job(then="end")[1], "")

    def test_an_exit_in_the_middle_of_a_turn(self):
        events, said = self.odd_beside_a_plain_job(then="exit")
        self.assertEqual(said, "")
        for gpu in {event["gpu"] for event in events}:
            turns = [event["event"] for event in events
                     if event["gpu"] == gpu and event["event"] in ("hold", "release")]
            self.assertEqual(turns[-1], "release", "the turn was given back before the process was gone")

    def test_a_program_that_takes_the_number_of_our_socket(self):
        """It loses no data (else it ends with an error), and each rank joins anew."""
        events, said = self.odd_beside_a_plain_job(then="take")
        self.assertEqual(said.count("the arbiter is lost"), 2, said)
        self.assertGreaterEqual(sum(event["event"] == "join" for event in events), 4)

    def test_collectives_that_are_captured_into_a_graph_after_eager_ones(self):
        for then in ("capture", "exchange"):
            with self.subTest(then=then):
                events, said = self.odd_beside_a_plain_job(then=then)
                self.assertIn("collectives are captured into graphs", said)
                for gpu in {event["gpu"] for event in events}:
                    ends = {event["event"]: event for event in events if event["gpu"] == gpu}
                    self.assertEqual(ends["mode"]["mode"], "observe", "its neighbour is not gated for nothing")
                    self.assertGreater(ends["leave"]["t_ns"] - ends["mode"]["t_ns"], 500_000_000,
                                       "nor was until it left")

    def assert_passes_turns_at_gaps(self, options=(), beside=(), **extra):
        """Runs two jobs that call no collective of NCCL's. Asserts that both take turns and that their losses are
        right."""
        iterations = f"--iterations={_BY_HOST_ITERATIONS}"
        machine = Machine(self)
        options = {"a": (iterations, *_BY_HOST, *options), "b": (iterations, *(beside or (*_BY_HOST, *options)))}
        alone = {name: machine.finish("s", machine.start("s", library=None, options=options[name]))[0]
                 for name in options}
        jobs = {name: machine.start(name, options=options[name], **extra) for name in options}
        for name, ranks in jobs.items():
            summary, said = machine.finish(name, ranks)
            self.assertEqual(summary["losses_digest"], alone[name]["losses_digest"])
            self.assertEqual(said_by_library(said), "")
        events = machine.events()
        machine.assert_watchdog_opened_none(self)
        for name in options:
            self.assertGreater(sum(event["event"] == "hold" and event["gang"] == name for event in events), 40,
                               "turns on both GPUs")

    def test_gradients_outside_nccl(self):
        self.assert_passes_turns_at_gaps()

    def test_gradients_outside_nccl_beside_a_plain_job(self):
        self.assert_passes_turns_at_gaps(beside=("--compute-ms=10",))

    def test_gradients_outside_nccl_through_host_gates(self):
        self.assert_passes_turns_at_gaps(CROSSOVER_GATES="host")

    def test_gradients_outside_nccl_on_streams_that_only_their_threads_can_ask(self):
        turns, said, _ = run_beside(self, _BY_HOST_ITERATIONS, (*_BY_HOST, "--stream=per-thread"))
        self.assertIn("no collectives are seen", said)
        self.assertEqual(turns, 0)

    def test_a_rank_that_leaves_early_takes_its_own_job_along_and_no_other(self):
        machine = Machine(self)
        leaving = machine.start("a", options=(f"--iterations={_ITERATIONS}", "--leave-after=30", "--leave-rank=1"))
        _, said = machine.finish("b", machine.start("b", options=(f"--iterations={_ITERATIONS}",)))
        self.assertEqual(said_by_library(said), "")
        self.assertEqual([rank.wait(60) for rank in reversed(leaving)], [0, 1])
        self.assertIn("rank 0: nccl", leaving[0].stderr.read())
        for rank in leaving:
            rank.stderr.close()


if __name__ == "__main__":
    unittest.main()
