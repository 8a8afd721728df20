"""Tests training jobs of four ranks on the software GPU. CTest sets TRAINER and SIMGPU_LIBRARIES in the environment."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from testing.ports import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LAUNCH = os.path.join(ROOT, "examples", "trainer", "launch.py")

MACHINE = """\
state: {directory}/state
mode: mps
node_link_bytes_per_s: 50e6
gpu_link_bytes_per_s: 1e9
nodes:
  - name: node0
    gpus: 2
  - name: node1
    gpus: 2
"""

QUICK = ["--compute-ms=1", "--iterations=12"]


class Machine(unittest.TestCase):
    """Gives each test a software machine of its own."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="trainer-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        config = os.path.join(self.directory, "machine.yaml")
        with open(config, "w", encoding="ascii") as file:
            file.write(MACHINE.format(directory=self.directory))
        self.environment = dict(os.environ, SIMGPU_CONFIG=config)
        self.runs = 0

    def start(self, *flags, nodes=2, gpus=2):
        """Starts a job, whose logs go to self.log_dir."""
        self.runs += 1
        self.ranks = nodes * gpus
        self.log_dir = os.path.join(self.directory, f"run{self.runs}")
        command = [sys.executable, LAUNCH, f"--nodes={nodes}", f"--gpus={gpus}"]
        command += ["--trainer", os.environ["TRAINER"]]
        command += ["--lib-dir", os.environ["SIMGPU_LIBRARIES"], "--log-dir", self.log_dir, "--", *flags]
        job = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        if job.poll() is None:
            job.terminate()
            job.wait()
        job.stdout.close()

    def logs(self):
        """Returns (iterations, evaluations, summary) for each rank."""
        result = []
        for rank in range(self.ranks):
            with open(os.path.join(self.log_dir, f"rank{rank}.jsonl"), encoding="ascii") as log:
                lines = [json.loads(line) for line in log]
            self.assertTrue(all(line["rank"] == rank for line in lines))
            result.append(
                (
                    [line for line in lines if "iteration" in line],
                    [line["evaluation"] for line in lines if "evaluation" in line],
                    lines[-1]["summary"],
                )
            )
        return result

    def train(self, *flags, nodes=2, gpus=2):
        job = self.start(*flags, nodes=nodes, gpus=gpus)
        output, _ = job.communicate()
        self.assertEqual(job.returncode, 0, output)
        return self.logs()


class Training(Machine):
    def test_four_ranks_learn_and_repeat_themselves_to_the_bit(self):
        flags = ["--compute-ms=1", "--iterations=200"]
        first = self.train(*flags)
        iterations, _, summary = first[0]
        losses = [float.fromhex(line["loss"]) for line in iterations]
        self.assertEqual(len(losses), 200)
        self.assertLess(sum(losses[-20:]), 0.4 * sum(losses[:20]))
        self.assertGreater(summary["accuracy"], 0.85)
        self.assertEqual(summary["kernels"], "timed stand-in around real arithmetic")
        self.assertGreaterEqual(summary["kernels_per_iteration"], 60)
        self.assertEqual(len({rank[2]["parameters_digest"] for rank in first}), 1)
        self.assertEqual(len({rank[2]["losses_digest"] for rank in first}), 4)
        second = self.train(*flags)
        for one, other in zip(first, second):
            self.assertEqual([line["loss"] for line in one[0]], [line["loss"] for line in other[0]])
            self.assertEqual(one[2]["losses_digest"], other[2]["losses_digest"])
            self.assertEqual(one[2]["parameters_digest"], other[2]["parameters_digest"])

    def test_iterations_follow_each_other_and_contain_their_compute(self):
        for iterations, _, _ in self.train(*QUICK):
            self.assertEqual([line["iteration"] for line in iterations], list(range(12)))
            for line in iterations:
                self.assertGreater(line["compute_ns"], 0)
                self.assertLessEqual(line["compute_ns"], line["end_ns"] - line["begin_ns"])
            for line, following in zip(iterations, iterations[1:]):
                self.assertLessEqual(abs(line["end_ns"] - following["begin_ns"]), 1)

    def test_jitter_does_not_change_the_losses_and_the_seed_does(self):
        plain = self.train(*QUICK)
        jittered = self.train(*QUICK, "--jitter=0.05", "--jitter-seed=7")
        seeded = self.train(*QUICK, "--seed=2")
        for rank in range(4):
            self.assertEqual(plain[rank][2]["losses_digest"], jittered[rank][2]["losses_digest"])
            self.assertEqual(plain[rank][2]["parameters_digest"], jittered[rank][2]["parameters_digest"])
            self.assertNotEqual(plain[rank][2]["losses_digest"], seeded[rank][2]["losses_digest"])

    def test_padding_travels_and_leaves_the_model_alone(self):
        plain = self.train(*QUICK)
        for flags in (["--gradient-bytes=100000"], ["--early-bytes=0.5", "--gradient-bytes=60000"]):
            with self.subTest(flags=flags):
                padded = self.train(*QUICK, *flags)
                self.assertEqual(len({rank[2]["parameters_digest"] for rank in padded}), 1)
                self.assertNotEqual(plain[0][2]["parameters_digest"], padded[0][2]["parameters_digest"])
                # Other buckets change the order of summation, so the model is the same except for rounding.
                for one, other in zip(plain[0][0], padded[0][0]):
                    loss = float.fromhex(one["loss"])
                    self.assertAlmostEqual(loss, float.fromhex(other["loss"]), delta=1e-3 * loss)


class Shares(Machine):
    """The ranks divide each batch of 32 images by weights, and change to new weights together."""

    FLAGS = ["--compute-ms=4", "--iterations=60"]

    def weigh(self, text):
        """Writes the file as a kubelet does: readers see the old text or the new one."""
        self.file = os.path.join(self.directory, "shares")
        with open(self.file + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.rename(self.file + ".new", self.file)
        return f"--shares={self.file}"

    @staticmethod
    def losses(logs):
        """Returns the loss over the images of all ranks, for each iteration."""
        each = [[float.fromhex(line["loss"]) for line in rank[0]] for rank in logs]
        return [sum(losses) / len(losses) for losses in zip(*each)]

    @staticmethod
    def farthest(one, other):
        return max(abs(a / b - 1) for a, b in zip(one, other))

    def changes(self, logs):
        """Returns {iteration: images of each rank} after asserting that all ranks changed at the same iterations."""
        each = [rank[2]["shares"] for rank in logs]
        iterations = [[change["iteration"] for change in changes] for changes in each]
        self.assertEqual(iterations, [iterations[0]] * len(each))
        return {changes[0]["iteration"]: [change["images"] for change in changes] for changes in zip(*each)}

    def test_unequal_shares_train_as_equal_ones(self):
        equal = self.losses(self.train(*self.FLAGS))
        weights = self.weigh("1000 1000 500 250\n")
        unequal = self.train(*self.FLAGS, weights)
        self.assertEqual(self.changes(unequal), {4: [12, 11, 6, 3]})
        self.assertLess(self.farthest(self.losses(unequal), equal), 1e-4, "rounding")
        unweighted = self.train(*self.FLAGS, weights, "--share-fault=unweighted")
        self.assertGreater(self.farthest(self.losses(unweighted), equal), 1e-2, "the control")

    def test_all_ranks_change_at_one_iteration(self):
        equal = self.losses(self.train(*self.FLAGS))
        job = self.start(*self.FLAGS, self.weigh("2 1 1 1"))
        for line in job.stdout:
            if line.startswith("iteration 18 "):
                self.weigh("1 1 1 5")
        self.assertEqual(job.wait(), 0)
        logs = self.logs()
        first, second = self.changes(logs).items()
        self.assertEqual((first, second[1]), ((4, [13, 7, 6, 6]), [4, 4, 4, 20]))
        self.assertGreater(second[0], 18)
        self.assertLess(self.farthest(self.losses(logs), equal), 1e-4)

    def test_slow_ranks_take_no_longer_with_shares_by_speed(self):
        speeds = ["--speeds=1,1,0.5,0.25", "--compute-ms=20", "--iterations=30"]

        def step_ms(logs):
            return logs[0][2]["median_step_ns"] / 1e6

        equal = self.train(*speeds)
        shares = self.train(*speeds, self.weigh("1000 1000 500 250"))
        # With equal shares the slowest takes 80 ms; by weights, 12 images at 2.5 ms each.
        self.assertGreater(step_ms(equal), 80)
        self.assertLess(step_ms(shares), 0.6 * step_ms(equal))

    def test_a_wrong_file_is_told_once_and_changes_nothing(self):
        flags = [*self.FLAGS, self.weigh("1 1 one 1")]
        job = self.start(*flags)
        output, _ = job.communicate()
        self.assertEqual(job.returncode, 0, output)
        wrong = (f"trainer: rank 0: --shares: {self.file}: weight of rank 2: expected a whole number from 1 to "
                 f"1000000, got one; the shares stay as they are\n")
        self.assertEqual(output.count(wrong), 1, output)
        self.assertNotIn("shares", self.logs()[0][2])


class Reductions(Machine):
    """Two nodes of two ranks reduce the 7,434 gradients of the model by each of the published ways."""

    FLAGS = ["--compute-ms=1", "--iterations=60"]
    OTHERS = ("bf16", "q8", "adaptive", "topk", "adasum")

    def test_all_ranks_end_with_the_same_parameters_and_have_learned(self):
        plain = self.train(*self.FLAGS)
        for name in self.OTHERS:
            with self.subTest(reduction=name):
                logs = self.train(*self.FLAGS, f"--reduction={name}")
                self.assertEqual({rank[2]["reduction"] for rank in logs}, {name})
                self.assertEqual(len({rank[2]["parameters_digest"] for rank in logs}), 1)
                self.assertNotEqual(logs[0][2]["parameters_digest"], plain[0][2]["parameters_digest"])
                losses = [float.fromhex(line["loss"]) for line in logs[0][0]]
                self.assertEqual(losses[0], float.fromhex(plain[0][0][0]["loss"]), "before the first step")
                self.assertLess(sum(losses[-10:]), 0.8 * sum(losses[:10]))
                again = self.train(*self.FLAGS, f"--reduction={name}")
                self.assertEqual(logs[0][2]["parameters_digest"], again[0][2]["parameters_digest"])

    def test_a_sum_is_what_it_was(self):
        plain = self.train(*QUICK)
        named = self.train(*QUICK, "--reduction=sum")
        for one, other in zip(plain, named):
            self.assertEqual([line["loss"] for line in one[0]], [line["loss"] for line in other[0]])
            self.assertEqual(one[2]["parameters_digest"], other[2]["parameters_digest"])
            self.assertNotIn("reduction", other[2])

    def test_which_buckets_carry_a_gradient_changes_nothing(self):
        for name in ("q8", "topk", "adasum"):
            with self.subTest(reduction=name):
                one = self.train(*QUICK, f"--reduction={name}")
                other = self.train(*QUICK, f"--reduction={name}", "--early-bytes=0.1")
                self.assertEqual(one[0][2]["parameters_digest"], other[0][2]["parameters_digest"])

    def received(self, *flags):
        """Returns the bytes that all ranks receive in an iteration from ranks of their own node, and of others."""
        totals = []
        for iterations in (4, 8):
            reports = os.path.join(self.directory, f"reports{self.runs}")
            os.mkdir(reports)
            self.environment["SIMGPU_REPORT"] = reports
            self.train("--compute-ms=1", f"--iterations={iterations}", *flags)
            of_all = []
            for name in os.listdir(reports):
                with open(os.path.join(reports, name), encoding="ascii") as report:
                    of_all.append(json.load(report)["received_bytes"])
            totals.append([sum(each[where] for each in of_all) for where in ("same_node", "other_nodes")])
        return [(after - before) / 4 for before, after in zip(*totals)]

    def test_bytes_are_those_of_the_formulas(self):
        gradients, ranks, tensors = 7434, 4, 10
        self.assertEqual(sum(self.received()), 2 * (ranks - 1) * gradients * 4)
        self.assertEqual(sum(self.received("--reduction=bf16")), 2 * (ranks - 1) * gradients * 2)
        # At level l of two, the three sums of each tensor travel l times.
        self.assertEqual(sum(self.received("--reduction=adasum")),
                         2 * (ranks - 1) * gradients * 4 + ranks * (1 + 2) * 3 * 8 * tensors)
        # A node adds its gradients, of which each rank has a shard of whole buckets, and gathers the results.
        within = 2 * 2 * 8192 * 4
        encoded = sum(size // 512 * 520 + (8 + size % 512 if size % 512 else 0) for size in (2048, 2048, 2048, 1290))
        self.assertEqual(self.received("--reduction=q8"), [within, 2 * encoded])
        taken = 2 * 186  # 0.05 of each half
        self.assertEqual(self.received("--reduction=topk"), [2 * 2 * gradients * 4, 2 * taken * 8])


class Variants(Machine):
    def test_every_variant_trains_the_same_model(self):
        plain = self.train(*QUICK)
        for flags in (
            ["--variant=one_stream"],
            ["--stream=own"],
            ["--stream=per-thread"],
            ["--stream=per-thread", "--variant=one_stream"],
            ["--log-every=5"],
        ):
            with self.subTest(flags=flags):
                logs = self.train(*QUICK, *flags)
                for rank in range(4):
                    self.assertEqual(plain[rank][2]["losses_digest"], logs[rank][2]["losses_digest"])

    def test_reduced_losses_are_the_mean_over_ranks(self):
        plain = self.train(*QUICK)
        for point in ("forward", "step"):
            with self.subTest(point=point):
                logs = self.train(*QUICK, "--variant=loss_allreduce", f"--loss-point={point}")
                self.assertEqual(len({rank[2]["losses_digest"] for rank in logs}), 1)
                self.assertEqual(plain[0][2]["parameters_digest"], logs[0][2]["parameters_digest"])
                for i in range(12):
                    mean = sum(float.fromhex(rank[0][i]["loss"]) for rank in plain) / 4
                    self.assertAlmostEqual(mean, float.fromhex(logs[0][0][i]["loss"]), places=5)

    def test_tensor_parallel_ranks_train_the_same_model(self):
        plain = self.train(*QUICK)
        tensor = self.train(*QUICK, "--variant=tensor")
        self.assertEqual(len({(rank[2]["losses_digest"], rank[2]["parameters_digest"]) for rank in tensor}), 1)
        for i in range(12):
            mean = sum(float.fromhex(rank[0][i]["loss"]) for rank in plain) / 4
            self.assertAlmostEqual(mean, float.fromhex(tensor[0][0][i]["loss"]), places=4)
        self.assertAlmostEqual(plain[0][2]["accuracy"], tensor[0][2]["accuracy"], delta=0.02)
        padded = self.train(*QUICK, "--variant=tensor", "--gradient-bytes=200000")
        for one, other in zip(tensor[0][0], padded[0][0]):  # other parts of a ring change the order of summation
            self.assertAlmostEqual(float.fromhex(one["loss"]), float.fromhex(other["loss"]), places=4)
        self.assertAlmostEqual(padded[0][2]["gradient_bytes"], 200_000, delta=40)

    def test_experts_get_the_images_of_all_ranks(self):
        plain = self.train(*QUICK)
        for routing in ("fixed", "varying"):
            with self.subTest(routing=routing):
                flags = ["--variant=experts", f"--routing={routing}", "--accumulation=2"]
                experts = self.train(*QUICK, *flags)
                again = self.train(*QUICK, *flags, "--gradient-bytes=100000")
                for rank in range(4):
                    self.assertEqual(experts[rank][2]["losses_digest"], again[rank][2]["losses_digest"])
                    self.assertEqual(experts[rank][2]["parameters_digest"], again[rank][2]["parameters_digest"])
                self.assertEqual(len({rank[2]["parameters_digest"] for rank in experts}), 1, "of the other layers")
        first = self.train(*QUICK, "--variant=experts")
        for rank in range(4):  # all experts begin as the plain layer
            self.assertAlmostEqual(float.fromhex(plain[rank][0][0]["loss"]), float.fromhex(first[rank][0][0]["loss"]),
                                   places=5)

    def test_buffers_accumulation_and_evaluation(self):
        logs = self.train(*QUICK, "--variant=broadcast_buffers", "--accumulation=3", "--eval-every=5")
        self.assertEqual(len({json.dumps(rank[1]) for rank in logs}), 1)
        self.assertEqual([evaluation["after_iteration"] for evaluation in logs[0][1]], [4, 9])
        for evaluation in logs[0][1]:
            # The accuracy is a count of correct answers among all of the 359 held-out images.
            correct = evaluation["accuracy"] * 359
            self.assertAlmostEqual(correct, round(correct), delta=1e-3)
            self.assertGreater(evaluation["accuracy"], 0.05)


class Control(Machine):
    def test_sigterm_ends_a_job_cleanly(self):
        job = self.start("--compute-ms=2", "--iterations=1000000")
        self.await_line(job, r"iteration 0 ")
        job.send_signal(signal.SIGTERM)
        output, _ = job.communicate()
        self.assertEqual(job.returncode, 0, output)
        for iterations, _, summary in self.logs():
            self.assertTrue(summary["interrupted"])
            self.assertEqual(summary["iterations"], len(iterations))

    def test_a_rank_that_is_told_to_stop_last_ends_cleanly(self):
        job = self.start("--compute-ms=2", "--iterations=1000000")
        self.await_line(job, r"iteration 0 ")
        children = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True, check=True)
        os.kill(int(children.stdout.split()[0]), signal.SIGTERM)
        self.await_line(job, r"\"summary\"")  # rank 0 writes it and leaves
        job.send_signal(signal.SIGTERM)
        output, _ = job.communicate()
        self.assertEqual(job.returncode, 0, output)
        for _, _, summary in self.logs():
            self.assertTrue(summary["interrupted"])

    def test_a_pause_file_holds_the_next_iteration(self):
        pause = os.path.join(self.directory, "pause")
        with open(pause, "w", encoding="ascii"):
            pass
        job = self.start(*QUICK, f"--pause-file={pause}")
        self.await_line(job, r"trainer: 4 ranks")
        resumed_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        os.unlink(pause)
        output, _ = job.communicate()
        self.assertEqual(job.returncode, 0, output)
        for iterations, _, _ in self.logs():
            self.assertGreater(iterations[0]["begin_ns"], resumed_ns)

    def test_a_lost_rank_ends_the_job(self):
        job = self.start("--compute-ms=2", "--iterations=1000000")
        self.await_line(job, r"iteration 0 ")
        children = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True, check=True)
        os.kill(int(children.stdout.split()[2]), signal.SIGKILL)
        output, _ = job.communicate()
        self.assertEqual(job.returncode, 1, output)
        self.assertIn("ended with -9", output)

    def await_line(self, job, pattern):
        for line in job.stdout:
            if re.search(pattern, line):
                return
        self.fail(f"no line with {pattern}")


class Refusals(Machine):
    def start_rank(self, *flags, **environment):
        variables = dict(
            self.environment,
            RANK="0",
            WORLD_SIZE="1",
            LOCAL_RANK="0",
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT="29500",
            LD_LIBRARY_PATH=os.environ["SIMGPU_LIBRARIES"],
        )
        variables.update(environment)
        rank = subprocess.Popen(
            [os.environ["TRAINER"], *flags],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(rank.kill)
        return rank

    def run_rank(self, *flags, **environment):
        rank = self.start_rank(*flags, **environment)
        output, errors = rank.communicate()
        return subprocess.CompletedProcess(rank.args, rank.returncode, output, errors)

    def test_ranks_with_other_flags_are_refused(self):
        port = str(free_port())
        ranks = [
            self.start_rank(f"--seed={rank}", WORLD_SIZE="2", RANK=str(rank), LOCAL_RANK=str(rank), MASTER_PORT=port)
            for rank in range(2)
        ]
        for rank in ranks:
            _, errors = rank.communicate()
            self.assertEqual(rank.returncode, 2, errors)
            self.assertIn("started with other flags", errors)

    def test_what_is_wrong_is_said_in_one_line(self):
        for flags, environment, words in (
            (["--batch=0"], {}, "--batch: expected a whole number from 1 to 256, got 0"),
            (["--speed=3"], {}, "--speed: unknown flag"),
            (["--data=/nonexistent"], {}, "/nonexistent: No such file"),
            (["--log=/nonexistent/log"], {}, "--log=/nonexistent/log: No such file"),
            ([], {"LOCAL_RANK": "2"}, "LOCAL_RANK=2: this node has 2 GPUs"),
            ([], {"WORLD_SIZE": "none"}, "WORLD_SIZE: expected a whole number from 1 to 4096, got none"),
            (["--reduction=adasum"], {"WORLD_SIZE": "3"},
             "WORLD_SIZE: expected a power of two, because of --reduction=adasum, got 3"),
            (["--reduction=q8", "--variant=sharded"], {},
             "--variant: expected plain, because of --reduction=q8, got sharded"),
        ):
            with self.subTest(words=words):
                result = self.run_rank(*flags, **environment)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_help(self):
        result = self.run_rank("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--gradient-bytes", result.stdout)

    def test_no_driver_is_said(self):
        result = self.run_rank("--iterations=1", LD_LIBRARY_PATH="")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"libcuda.so.1|libnccl.so.2")


if __name__ == "__main__":
    unittest.main()
