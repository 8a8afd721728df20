"""Tests that the node daemon says why a job runs plain that asks for compressed reductions, and that it says so of no
other job."""

import os
import unittest
import urllib.request
from pathlib import Path

from testing.processes import await_true
from tests.process.cli.machine import Node, end_quietly
from tests.process.cli.test_metrics import series
from tests.process.shrink.test_turns import TwoNodes

_BUILD = Path(os.environ.get("BUILD", ""))
_FRONT = (_BUILD / "tests/process/shrink/libshrink_faulty.so",)
_PATIENCE_S = 120
_LONG = 100_000  # iterations: the test ends the job
_SOON = {"SHRINK_TEST_LIMITS": "700,60000,60000,200"}  # rank 0 gives up on a rank so soon
_FUNCTION = b"crossover_report_reductions"


class ScrapedNodes(TwoNodes, Node):
    """Runs such jobs beside a whole daemon, whose metrics can be scraped."""

    def __init__(self, test):
        super().__init__(test, start=False, metrics="{listen: '127.0.0.1:0'}")
        self.environment.update(_SOON)
        self.start_scraped()

    def start_scraped(self):
        said = self.start_daemon(until="metrics on port ")
        self.url = f"http://127.0.0.1:{said.rsplit(' ', 1)[1].strip()}/metrics"
        self.await_word("api on ")

    def run_job(self, level, **options):
        ranks = self.start_narrowed("a", level, _FRONT, iterations=_LONG, **options)
        for rank in ranks:
            self.test.addCleanup(end_quietly, rank)
        return ranks

    def reductions(self):
        """Returns [(metric without crossover_reductions_, GPU's number among those of the job, level or reason,
        value)]."""
        with urllib.request.urlopen(self.url, timeout=60) as answer:
            scraped = series(answer.read().decode())
        uuids = sorted({labels["gpu_uuid"] for name, labels, _ in scraped if name == "crossover_turns_total"})
        return sorted((name.removeprefix("crossover_reductions_"), uuids.index(labels["gpu_uuid"]),
                       labels.get("level") or labels["reason"], value)
                      for name, labels, value in scraped if name.startswith("crossover_reductions_"))

    def connected(self):
        return sum(len(job.get("clients", [])) for job in self.top().get("jobs", []))

    def await_reductions(self, count):
        await_true(f"{count} series of reductions", lambda: len(self.reductions()) == count, _PATIENCE_S)
        return self.reductions()


class Reports(unittest.TestCase):

    def test_a_job_with_one_rank_opted_out_is_told_the_reason(self):
        node = ScrapedNodes(self)
        node.run_job("bf16", rank_1={"CROSSOVER_SHRINK": "off"})
        expected = [("bf16", 0.0), ("missing_rank", 1.0)]
        said = node.await_reductions(2)
        self.assertEqual([(what, value) for _, _, what, value in said], expected)
        self.assertEqual(len({gpu for _, gpu, _, _ in said}), 1, "the rank that opted out says nothing")
        self.assertIn("a rank 0 has plain reductions, and bf16 is asked for: a rank did not vote in time",
                      node.ask("top"))
        # The next daemon learns it from the same processes.
        node.stop_daemon()
        node.start_scraped()
        said = node.await_reductions(2)
        self.assertEqual([(what, value) for _, _, what, value in said], expected)

    def test_a_job_that_is_narrowed_says_its_level(self):
        node = ScrapedNodes(self)
        node.run_job("bf16")
        said = node.await_reductions(2)
        self.assertEqual([(name, what, value) for name, _, what, value in said], [("compressed", "bf16", 1.0)] * 2)
        self.assertNotIn("plain reductions", node.ask("top"))

    def chosen(self, on_rank_0, on_rank_1, count):
        """Runs a job whose owner asks for auto, with these choices. Returns its series, of which there are `count`, and
        what `crossover top` says."""
        node = ScrapedNodes(self)
        ranks = {f"rank_{rank}": {} if choice is None else {"CROSSOVER_SHRINK_CHOICE": choice}
                 for rank, choice in enumerate((on_rank_0, on_rank_1))}
        node.run_job("auto", **ranks)
        return sorted((name, what, value) for name, _, what, value in node.await_reductions(count)), node.ask("top")

    def test_a_job_with_a_chosen_level_is_narrowed_by_it(self):
        for level in ("bf16", "q8"):
            said, top = self.chosen(level, level, 4)
            self.assertEqual(said, [("compressed", "auto", 0.0)] * 2 + [("compressed", level, 1.0)] * 2)
            self.assertNotIn("plain reductions", top)

    def test_a_job_whose_calls_pass_by_choice_is_told_the_reason(self):
        said, top = self.chosen("off:not_needed", "off:not_needed", 4)
        self.assertEqual(said, [("compressed", "auto", 0.0)] * 2 + [("plain_total", "not_needed", 1.0)] * 2)
        for rank in (0, 1):
            self.assertIn(f"a rank {rank} has plain reductions, and auto is asked for: turns with other jobs hide the "
                          "wait for communication", top)

    def test_ranks_with_different_choices_are_told_their_own_reasons(self):
        said, top = self.chosen("bf16", "off:no_gain", 4)
        self.assertEqual(said, [("compressed", "auto", 0.0)] * 2 + [("plain_total", "no_gain", 1.0),
                                                                    ("plain_total", "unready_rank", 1.0)])
        self.assertIn("a rank 0 has plain reductions, and auto is asked for: another rank is not ready", top)
        self.assertIn("a rank 1 has plain reductions, and auto is asked for: no level makes a step", top)

    def test_a_job_without_a_choice_is_told_so(self):
        said, top = self.chosen("off:no_gain", None, 4)
        self.assertEqual(said, [("compressed", "auto", 0.0)] * 2 + [("plain_total", "no_choice", 1.0),
                                                                    ("plain_total", "no_gain", 1.0)])
        self.assertIn("a rank 1 has plain reductions, and auto is asked for: the pod has no choice of a level that "
                      "this version knows", top)

    def test_an_older_library_of_turns_is_only_beside(self):
        """This is a control: without the message there are no series, and the line is there."""
        node = ScrapedNodes(self)
        older = node.directory / "libcrossover.so"
        text = (_BUILD / "lib/libcrossover.so").read_bytes()
        self.assertIn(_FUNCTION, text)
        older.write_bytes(text.replace(_FUNCTION, _FUNCTION.upper()))
        ranks = node.run_job("bf16", of_turns=older, rank_1={"CROSSOVER_SHRINK": "off"})
        for line in ranks[0].stderr:
            if "shrink: a communicator runs plain: ranks that said hello within" in line:
                break
        await_true("both ranks at the daemon", lambda: node.connected() == 2, _PATIENCE_S)
        await_true("turns", lambda: node.top()["jobs"][0]["clients"][0]["learned"], _PATIENCE_S)
        self.assertEqual(node.reductions(), [])


if __name__ == "__main__":
    unittest.main()
