"""Tests the whole chain on a real Kubernetes: two jobs are annotated, are placed on the same GPUs, and take turns
there."""

import unittest
from dataclasses import replace

from testing import pairs
from testing.cluster.training import OWN_PRELOAD, TrainingJob
from tests.cluster.turns import turn_orders
from tests.cluster.turns.chain_case import LEARNT_WITHIN_S, NAMESPACE, ChainCase

_KEY = "digits"  # the profile key of all jobs here: the first is measured alone, those after it share
# By then a daemon has measured a job that is alone once more (20 s), and its node has published that (30 s).
_SETTLED_S = 60.0
_SPEEDS = (1, 1, 0.5, 0.25)
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)


class Chain(ChainCase):
    SHAPE, SETTINGS = _SHAPE, {"shares": {"settle_s": _SETTLED_S}}

    def run_jobs(self, names):
        """Runs jobs of these names at the same time and returns their logs. Each has a rank on every GPU. The second
        has a library of its own preloaded."""
        ranks = self.gpus.machine.ranks
        jobs = [TrainingJob(self.cluster, NAMESPACE, _SHAPE.job(name, seed), ranks,
                            annotations={"crossover.dev/profile-key": _KEY},
                            environment=OWN_PRELOAD if seed == 2 else None, by_hand=False)
                for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        found = [job.finish() for job in jobs]
        self.daemons.check()
        self.control.check()
        for job in jobs[1:]:
            self.assertGreaterEqual(job.own_preloads, ranks, "the image's own LD_PRELOAD")
        return found

    def test_two_jobs_take_turns(self):
        alone = self.run_jobs(["alone"])[0]
        self.control.await_profile(NAMESPACE, _KEY)
        self.assertFalse(self._in_turns(turn_orders.alternate, "alone"), "the control: one job has none beside it")
        self._sees_one_ring(alone, runs=1)
        jobs = self.run_jobs(["alpha", "beta"])
        for job in ("alpha", "beta"):
            self._granted(job)
        self.assertEqual(jobs[0].digest, alone.digest, "the losses of the job that was alone before")
        said = [self.daemons.said(node)[-2000:] for node in self.cluster.nodes]
        self.assertTrue(self._in_turns(turn_orders.alternate, "alpha", "beta"), said)
        self.assertTrue(self._in_turns(turn_orders.hide, "alpha", "beta"), said)
        self._sees_one_ring(alone, runs=3)

    def test_a_slow_rank_is_named(self):
        ranks = self.gpus.machine.ranks
        even = TrainingJob(self.cluster, NAMESPACE, _SHAPE.job("even", 1), ranks,
                           annotations={"crossover.dev/profile-key": "even"}, by_hand=False)
        even.create()
        even.finish()
        more = f"--compute-ms=$((RANK == 1 ? 30 : {_SHAPE.compute_ms:.0f}))"
        long = replace(_SHAPE, iterations=100_000, extra=(more,))
        uneven = TrainingJob(self.cluster, NAMESPACE, long.job("uneven", 1), ranks,
                             annotations={"crossover.dev/profile-key": "uneven"}, by_hand=False)
        uneven.create()
        self.addCleanup(self.cluster.kubectl, "delete", "job", "uneven", "--namespace", NAMESPACE)
        pod = uneven.pod(1)
        run = self._latest_run("uneven", lambda run: "since" in run.get("slowest", {}))
        self.assertEqual(run["slowest"]["pod"], pod["metadata"]["name"])
        self.assertEqual(run["slowest"]["node"], self.cluster.get(
            "pod", pod["metadata"]["name"], NAMESPACE)["spec"]["nodeName"])
        self.assertAlmostEqual(run["slowest"]["computeSeconds"] / run["medianSeconds"], 1.5, delta=0.2)
        told = self.cluster.wait_for_any("events", lambda event: event["reason"] == "SlowRank", NAMESPACE)
        self.assertEqual(told["involvedObject"]["uid"], pod["metadata"]["uid"])
        self.assertEqual(told["action"], "Measure")
        run = self._latest_run("even", lambda run: "slowest" in run)
        self.assertNotIn("since", run["slowest"], "the control: no rank has more to do")

    def test_the_batch_is_shared_by_speed(self):
        flags = (f"--speeds={','.join(map(str, _SPEEDS))}", '--shares="$CROSSOVER_BATCH_SHARES"')
        job = TrainingJob(self.cluster, NAMESPACE,
                          replace(_SHAPE, iterations=100_000, extra=flags).job("unlike", 1), len(_SPEEDS),
                          annotations={"crossover.dev/profile-key": "unlike", "crossover.dev/batch-shares": "true"},
                          by_hand=False)
        job.create()
        self.addCleanup(self.cluster.kubectl, "delete", "job", "unlike", "--namespace", NAMESPACE)
        pods = [job.pod(rank)["metadata"]["name"] for rank in range(len(_SPEEDS))]

        def weights(pod):
            return pod["metadata"].get("annotations", {}).get("crossover.dev/status-batch-shares", "")
        texts = {weights(self.cluster.wait_for("pod", name, weights, NAMESPACE, timeout_s=LEARNT_WITHIN_S))
                 for name in pods}
        self.assertEqual(len(texts), 1, "all pods have the same weights")
        for found, speed in zip(map(int, texts.pop().split()), _SPEEDS):
            self.assertAlmostEqual(found / 1000, speed, delta=0.1)
        told = self.cluster.wait_for_any("events", lambda event: event["reason"] == "BatchSharesChanged", NAMESPACE)
        # Equal parts take as long as the slowest rank: 1 - (4 / 2.75) / 4 of the step is to be gained. This is the
        # control, too: the ranks were as unlike as their speeds.
        self.assertRegex(told["message"], r"shorter by 6[0-9]%")

        def alike(_):
            times = [rank["computeSeconds"] for node in self.cluster.get("gpunodes")
                     for run in node.get("status", {}).get("jobs", []) if run["gang"].endswith("unlike")
                     for rank in run.get("ranks", [])]
            return len(times) == len(_SPEEDS) and max(times) <= 1.15 * min(times)
        self.cluster.wait_for_any("gpunodes", alike, timeout_s=LEARNT_WITHIN_S)
        reasons = [event["reason"] for event in self.cluster.get("events", namespace=NAMESPACE)]
        self.assertNotIn("BatchSharesWithdrawn", reasons)

    def _sees_one_ring(self, log, runs):
        """Asserts that the profile has what so many runs called: one ring over all pods in the order of their ranks,
        and the bytes that the trainer says."""
        found = self.communication_of(_KEY, runs)
        pods = list(range(self.gpus.machine.ranks))
        self.assertEqual([(group["function"], group["members"]) for group in found["groups"]], [("AllReduce", pods)])
        self.assertEqual(found["groups"][0]["bytes"], log.ranks[0].summary["gradient_bytes"])

    def _latest_run(self, key, condition):
        """Returns the latest run of the profile with this key, once it fulfils the condition."""
        def latest(profile):
            return (profile.get("status", {}).get("runs") or [{}])[-1]
        return latest(self.cluster.wait_for_any(
            "jobprofiles", lambda profile: profile["spec"].get("key") == key and condition(latest(profile)), NAMESPACE,
            LEARNT_WITHIN_S))

    def _granted(self, job):
        """Asserts that each pod has a memory budget. The pods name none: it comes from what was measured, and without
        it no other job could share their GPUs."""
        pods = [pod for pod in self.cluster.get("pods", namespace=NAMESPACE)
                if pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job]
        for pod in pods:
            self.assertGreater(int(pod["metadata"]["annotations"]["crossover.dev/status-gpu-memory"]), 0)
        self.assertTrue(pods)

    def _in_turns(self, rule, *names):
        """Tells whether a rule of turn_orders holds on all nodes."""
        gangs = {f"{NAMESPACE}/{name}" for name in names}
        return all(rule(self.daemons.trace(node), gangs, self.gpus.uuids(number))
                   for number, node in enumerate(self.cluster.nodes))


if __name__ == "__main__":
    unittest.main()
