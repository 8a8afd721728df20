"""Tests pipelines on the software GPU: each rank is a stage. CTest sets TRAINER, CROSSOVER and SIMGPU_LIBRARIES in the
environment."""

import json
import os
import subprocess
import unittest

from tests.process.examples.test_trainer import Machine

BLOCKS = 8
QUICK = ("--variant=pipeline", "--iterations=6")
SHAPE = (f"--blocks={BLOCKS}", "--microbatches=6", "--block-forward-ms=0.2", "--block-backward-ms=0.4")
UNEQUAL = (0, 1, 4, 6, 8)


class Pipeline(Machine):
    """Compares pipelines with the same model on one rank."""

    def serial(self, *flags):
        return self.train(*QUICK, *flags, nodes=1, gpus=1)[0]

    def plan(self, borders=UNEQUAL, sliced=0, **changes):
        """Writes a plan and returns its path."""
        stages = [{"first_block": str(begin), "last_block": str(end - 1), "begin": begin, "end": end, "server": "node",
                   "gpu": rank, "forward_ms": 0.2 * (end - begin), "backward_ms": 0.4 * (end - begin)}
                  for rank, (begin, end) in enumerate(zip(borders, borders[1:]))]
        plan = {"schedule": "1f1b", "microbatches": 6, "sliced_microbatches": sliced, "slice_cost": 0.1,
                "stages": stages, **changes}
        path = os.path.join(self.directory, "plan.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(plan, file)
        return path

    def assert_same(self, ranks, serial, where=""):
        for rank, (iterations, _, summary) in enumerate(ranks):
            for digest in ("losses_digest", "parameters_digest"):
                self.assertEqual(summary[digest], serial[2][digest], f"rank {rank} {where}")
            self.assertEqual([line["loss"] for line in iterations], [line["loss"] for line in serial[0]])

    def test_stages_have_the_losses_of_one_rank_to_the_bit(self):
        serial = self.serial(*SHAPE)
        self.assertEqual(len({line["loss"] for line in serial[0]}), 6)
        self.assert_same(self.train(*QUICK, *SHAPE), serial)
        self.assert_same(self.train(*QUICK, *SHAPE, nodes=1, gpus=2), serial)

    def test_plans_change_no_loss(self):
        serial = self.serial(*SHAPE)
        for where, plan in (("unequal", self.plan), ("sliced", lambda: self.plan(sliced=2)),
                            ("all sliced", lambda: self.plan(sliced=6)),
                            ("gpipe", lambda: self.plan(sliced=1, schedule="gpipe"))):
            with self.subTest(where=where):
                self.assert_same(self.train(*QUICK, f"--plan={plan()}"), serial, where)

    def test_a_plan_of_the_planner_runs(self):
        profile = os.path.join(self.directory, "blocks.csv")
        with open(profile, "w", encoding="ascii") as file:
            file.write("forward_ms,backward_ms\n" + "0.2,0.4\n" * (BLOCKS - 1) + "0.8,1.6\n")
        path = os.path.join(self.directory, "planned.json")
        command = [os.environ["CROSSOVER"], "plan", "pipeline", "--profile", profile, "--stages", "4",
                   "--microbatches", "6", "-o", "json"]
        with open(path, "w", encoding="ascii") as file:
            subprocess.run(command, stdout=file, check=True)
        with open(path, encoding="ascii") as file:
            self.assertGreater(json.load(file)["sliced_microbatches"], 0)
        self.assert_same(self.train(*QUICK, f"--plan={path}"), self.serial(*SHAPE))

    def test_models_of_few_and_of_many_blocks_learn(self):
        for blocks in (BLOCKS, 49):
            with self.subTest(blocks=blocks):
                ranks = self.train("--variant=pipeline", "--iterations=150", f"--blocks={blocks}", "--microbatches=6",
                                   "--block-forward-ms=0", "--block-backward-ms=0")
                losses = [float.fromhex(line["loss"]) for line in ranks[0][0]]
                self.assertLess(sum(losses[-20:]), 0.3 * sum(losses[:20]))
                self.assertGreater(ranks[0][2]["accuracy"], 0.9)

    def test_a_lost_message_and_a_removed_wait_change_the_losses(self):
        serial = self.serial(*SHAPE)
        for fault in ("no-message", "no-wait"):
            with self.subTest(fault=fault):
                ranks = self.train(*QUICK, *SHAPE, f"--stage-fault={fault}", nodes=1, gpus=2)
                self.assertNotEqual(ranks[0][2]["losses_digest"], serial[2]["losses_digest"])
                self.assertNotEqual(ranks[0][2]["parameters_digest"], serial[2]["parameters_digest"])

    def test_a_plan_that_does_not_fit_is_refused_in_one_line(self):
        unknown = {"slices": 1}
        for plan, words in (
            (self.plan, "plan.json: stages: expected 1 of them, one for each rank (WORLD_SIZE), got 4"),
            (lambda: self.plan((0, 8), **unknown), "plan.json: slices: expected one of the keys iteration_ms, "),
            (lambda: self.plan((0, 8), slice_cost=None), "plan.json: slice_cost: expected a number from 0 to 10, got "),
            (lambda: self.plan((0, 8), microbatches=1.5), "plan.json: microbatches: expected a whole number from 1 "),
            (lambda: self.plan((0, 8), schedule="interleaved"), "plan.json: schedule: expected 1f1b or gpipe, got "),
            (lambda: os.path.join(self.directory, "none.json"), "none.json: No such file"),
        ):
            with self.subTest(words=words):
                job = self.start(*QUICK, f"--plan={plan()}", nodes=1, gpus=1)
                output, _ = job.communicate()
                self.assertIn(words, output)
                self.assertIn("rank 0 ended with 2", output)


if __name__ == "__main__":
    unittest.main()
