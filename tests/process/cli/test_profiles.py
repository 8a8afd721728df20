"""Tests that profiles outlive the jobs and the daemon, with the real daemon and real jobs on software GPUs."""

import json
import os
import signal
import subprocess
import time
import unittest

from tests.process.cli.machine import Node, clients, end_ranks, finished
from tests.process.sidecar.test_sidecar import BIN

COMPUTE_MS = 10  # the trainers' --compute-ms, in Machine.start
AWAY_MS = 65536 / 1.1e7 * 1e3  # of their gradients over the link between two GPUs


def is_near(profile, key, expected, least, most):
    """Tells whether a figure lies between `least` and `most` times what is expected. Upper bounds are wide: other work
    on the machine makes turns longer. Measurements elsewhere say how exact the figures are."""
    return least <= profile[key]["value"] / expected <= most


class Profiles(unittest.TestCase):

    def node(self):
        """Starts a node whose daemon has a driver to ask and keeps profiles in a directory of this test's own."""
        node = Node(self, profiles="off")
        node.stop_daemon()
        self.directory = node.directory / "profiles"
        node.write_config(profiles=self.directory)
        for name in ("SIMGPU_CONFIG", "LD_LIBRARY_PATH"):
            os.environ[name] = node.environment[name]
            self.addCleanup(os.environ.pop, name)
        node.start_daemon()
        return node

    def profiles(self, node):
        listed = json.loads(node.ask("profiles", "-o", "json"))
        self.assertEqual(listed["directory"], str(self.directory))
        return {profile["gang"]: profile for profile in listed["profiles"]}

    def file(self, name):
        return self.directory / f"{os.geteuid()}-2-{name}.json"

    def await_profiles(self, node, *names):
        """Blocks until the profiles are written, which is a moment after they are known."""
        while not (set(names) <= set(profiles := self.profiles(node)) and
                   all(self.file(name).exists() for name in names)):
            time.sleep(0.05)
        return profiles

    def assert_same_figure(self, figure, other):
        """Asserts that two figures agree. The source may have become `remembered`. Instants are converted between two
        clocks."""
        self.assertAlmostEqual(figure["value"], other["value"])
        self.assertAlmostEqual(figure["learned_at_s"], other["learned_at_s"], delta=0.001)

    def assert_same(self, profile, other):
        self.assertEqual(set(profile), set(other))
        for key, figure in profile.items():
            if isinstance(figure, dict):
                self.assert_same_figure(figure, other[key])
            else:
                self.assertEqual(figure, other[key])

    def share(self, node):
        """Runs alpha alone, then beside beta until the figures of both are right, and ends both. A busy machine makes
        turns longer for a while."""
        ranks = node.start_job("alpha")
        node.await_top(lambda top: len(clients(top)) == 2 and all("alone" in client for client in clients(top)))
        ranks += node.start_job("beta")
        wanted = {"compute_ms", "away_ms", "jitter", "step_alone_ms", "peak_memory_bytes"}
        node.await_top(lambda top: len(top["jobs"]) == 2 and all(
            wanted <= set(job.get("profile", ())) and is_near(job["profile"], "compute_ms", COMPUTE_MS, 0.9, 2) and
            is_near(job["profile"], "away_ms", AWAY_MS, 0.75, 3) for job in top["jobs"]))
        end_ranks(ranks)  # at the same time: neither is alone at the end
        return self.await_profiles(node, "alpha", "beta")

    def test_outlive_jobs_and_a_killed_daemon(self):
        node = self.node()
        for name, profile in self.share(node).items():
            self.assertEqual((profile["uid"], profile["size"]), (os.geteuid(), 2))
            self.assertGreater(profile["compute_ms"]["value"], 0.9 * COMPUTE_MS)
            self.assertGreater(profile["away_ms"]["value"], 0.75 * AWAY_MS)
            self.assertGreaterEqual(profile["jitter"]["value"], 0)
            self.assertGreater(profile["peak_memory_bytes"]["value"], 0)
            self.assertEqual(self.file(name).stat().st_mode & 0o777, 0o600)
            self.assert_same(json.loads(self.file(name).read_text(encoding="utf-8")), profile)
        before = self.profiles(node)
        self.assertEqual(before["alpha"]["step_alone_ms"]["source"], "measured")
        self.assertEqual(before["beta"]["step_alone_ms"]["source"], "estimated")

        node.stop_daemon(signal.SIGKILL)
        broken = self.directory / "0-2-gamma.json"
        broken.write_text('{"gang": "gamma", "jitter": {"value": -1}}', encoding="utf-8")
        node.start_daemon(until="jitter.value: expected 0 to 1000, got -1")
        node.await_word("api on ")
        self.assertFalse(broken.exists())
        self.assertTrue(broken.with_name("0-2-gamma.json.broken").exists())
        for name, profile in self.profiles(node).items():
            for key, figure in before[name].items():
                if isinstance(figure, dict):
                    self.assert_same_figure(profile[key], figure)
        self.assertRegex(node.ask("profiles"), r"(?m)^alpha +\d+ +2 +\d+\.\d +\d+\.\d +\d+\.\d% +\d+\.\d +\d+ ")

        paused = self.directory / "paused"
        paused.touch()
        node.start_job("alpha", paused_by=paused)  # so that it cannot measure itself before this looks
        top = node.await_top(clients)
        self.assertEqual(clients(top)[0]["alone"]["source"], "remembered")
        self.assertEqual(top["jobs"][0]["profile"]["step_alone_ms"]["source"], "remembered")

    def test_mode_observe_measures_who_is_alone_and_holds_up_no_job(self):
        node = self.node()
        node.ask("mode", "observe")
        node.start_job("alpha")

        def measured(top):
            profiles = [job.get("profile", {}) for job in top["jobs"]]
            return len(clients(top)) == 2 and all(
                "away_ms" in profile and is_near(profile, "compute_ms", COMPUTE_MS, 0.9, 2) for profile in profiles)
        self.assertGreater(min(client["turns"] for client in clients(node.await_top(measured))), 0, "with itself")
        node.start_job("beta")
        meet = node.await_top(lambda top: len(clients(top)) == 4)
        later = node.await_top(lambda top: all(client["learned"] and "step_ms" in client for client in clients(top)))
        for top in (meet, later):
            self.assertEqual({client["mode"] for client in clients(top)}, {"observe"})
        before = {(client["gang"], client["rank"]): client["turns"] for client in clients(meet)}
        for client in clients(later):  # one turn may have begun as the jobs met
            self.assertLessEqual(client["turns"], before[client["gang"], client["rank"]] + 1)
            self.assertTrue(client["gang"] == "alpha" or client["turns"] == 0)

    def test_a_daemon_that_stops_keeps_what_it_learned(self):
        node = self.node()
        node.start_job("alpha")
        node.await_top(lambda top: len(clients(top)) == 2 and all("alone" in client for client in clients(top)))
        self.assertEqual(node.stop_daemon(), 0)
        self.assertTrue(self.file("alpha").exists())

    def test_who_cannot_write_the_answer_says_so(self):
        node = self.node()
        for words in (("profiles",), ("profiles", "-o", "json"), ("mode", "observe"), ("top",), ("timeline",)):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(node.command(*words), stdout=full, stderr=subprocess.DEVNULL, timeout=60,
                                      check=False)
                self.assertEqual(done.returncode, 1)

    def test_a_directory_that_cannot_be_made_is_an_error(self):
        node = Node(self)
        node.stop_daemon()
        node.write_config(profiles=node.config / "profiles")
        done = finished([BIN / "crossover-deviceplugin", "--standalone", "--config", node.config])
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"profiles: {node.config}/profiles cannot be made: Not a directory", done.stderr)

    def test_off_means_off(self):
        self.assertIn("profiles are off", Node(self).ask("profiles"))


if __name__ == "__main__":
    unittest.main()
