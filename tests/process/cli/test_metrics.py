"""Tests what the daemon reports to Prometheus about jobs, against what their trainers measured themselves."""

import re
import statistics
import time
import unittest
import urllib.request

from testing.logs import read_rank_log
from tests.process.cli.machine import Node, clients, end_quietly
from tools.metrics_reference import LABELS

_SERIES = re.compile(r'^(\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_IN_PODS = {"namespace", "pod"}
_WINDOW_NS = 10_000_000_000  # of the daemon's means
_STALL_MS = 15
_APART = 0.08  # of the gain, at most; the figures *_daemon_error say what it usually is


def series(text):
    """Returns [(name, {label: value}, value)]. The endings of histograms are cut off, and so are their own labels."""
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = _SERIES.match(line).groups()
            found.append((name, {k: v for k, v in _LABEL.findall(labels or "") if k != "le"}, float(value)))
    return found


class Metrics(unittest.TestCase):

    def node(self):
        """Starts a node whose daemon has a driver to ask and a port that can be scraped."""
        node = Node(self, start=False, metrics="{listen: '127.0.0.1:0'}")
        said = node.start_daemon(until="metrics on port ", environment=node.environment)
        self.url = f"http://127.0.0.1:{said.rsplit(' ', 1)[1].strip()}/metrics"
        node.await_word("api on ")
        return node

    def scrape(self):
        with urllib.request.urlopen(self.url, timeout=60) as answer:
            return series(answer.read().decode())

    def of(self, scraped, name):
        """Returns {(gang, GPU): value} of one metric."""
        return {(labels.get("gang"), labels["gpu_uuid"]): value for found, labels, value in scraped if found == name}

    def run_alone(self, node, job, iterations):
        """Runs a job alone. Returns its mean iteration by its own log, in seconds."""
        node.finish(job, node.start(job, options=(f"--iterations={iterations}",)))
        return self.mean_step(node, job)

    def mean_step(self, node, job, begin=0, end=float("inf")):
        ends = [i.end_ns for i in read_rank_log(node.directory / f"{job}0.log").iterations if begin <= i.end_ns <= end]
        return (ends[-1] - ends[0]) / (len(ends) - 1) / 1e9

    def share(self, node, alone):
        """Runs both jobs together. Returns how far the daemon's gain and slowdown are from the trainers' gain, each as
        the median of several looks, and the last look."""
        ranks = {job: node.start(job, options=("--iterations=900",)) for job in alone}
        looks = []
        while all(rank.poll() is None for job in ranks.values() for rank in job):
            scraped = self.scrape()
            if len(self.of(scraped, "crossover_eta_ratio")) == 4:
                looks.append((time.monotonic_ns(), scraped))
            time.sleep(0.2)
        for job, processes in ranks.items():
            node.finish(job, processes)
        begin = max(read_rank_log(node.directory / f"{job}0.log").iterations[60].end_ns for job in alone)
        looks = [(at, scraped) for at, scraped in looks if at > begin + _WINDOW_NS / 2]
        self.assertGreater(len(looks), 5)
        gains, slowdowns = [], []
        for at, scraped in looks:
            gain = sum(alone[job] / self.mean_step(node, job, max(begin, at - _WINDOW_NS), at) for job in alone)
            said = self.of(scraped, "crossover_gain_ratio")
            for of_gpu in {gpu for _, gpu in said}:
                of_its_jobs = {value for (_, gpu), value in said.items() if gpu == of_gpu}
                self.assertEqual(len(of_its_jobs), 1, "the same for both")
            gains.append(abs(statistics.mean(said.values()) / gain - 1))
            slowdowns.append(abs(statistics.mean(self.of(scraped, "crossover_slowdown_ratio").values()) / gain - 1))
        return statistics.median(gains), statistics.median(slowdowns), looks[-1][1]

    def test_figures_are_those_of_the_trainers(self):
        node = self.node()
        alone = {job: self.run_alone(node, job, 200) for job in ("alpha", "beta")}
        apart, control, look = self.share(node, alone)
        self.check_one_look(look, alone)
        self.assertGreater(control, _APART, "the control: another figure is not as near")
        self.assertLessEqual(apart, _APART, "of the trainers' gain")

    def test_a_wait_for_input_is_no_compute(self):
        node = self.node()
        ranks = node.start("alpha", options=("--iterations=100000", f"--stall-ms={_STALL_MS}"))
        for rank in ranks:
            self.addCleanup(end_quietly, rank)
        while True:
            scraped = self.scrape()
            waits = self.of(scraped, "crossover_input_wait_seconds")
            if len(waits) == 2 and min(waits.values()) > 0.8e-3 * _STALL_MS:
                break
            time.sleep(0.2)
        communication = self.of(scraped, "crossover_communication_seconds")
        self.assertGreater(min(communication.values()), 1e-3, "m is 6 ms, and no part of the wait for input")
        for compute_s in self.of(scraped, "crossover_compute_seconds").values():
            self.assertLess(compute_s, 1e-3 * (10 + _STALL_MS / 2), "c is 10 ms, and the stall is no part of it")
        shown = clients(node.top())
        self.assertEqual(len(shown), 2)
        for client in shown:
            self.assertGreater(client["input_wait_ms"], 0.8 * _STALL_MS)

    def check_one_look(self, scraped, alone):
        figure = {name: self.of(scraped, f"crossover_{name}") for name in (
            "step_alone_seconds", "step_shared_seconds", "slowdown_ratio", "gain_ratio", "eta_ratio",
            "compute_seconds", "communication_seconds", "input_wait_seconds", "exposed_communication_ratio")}
        for name, values in figure.items():
            self.assertEqual({job for job, _ in values}, set(alone), name)
        busy = self.of(scraped, "crossover_gpu_busy_ratio")
        for (job, gpu), step in figure["step_alone_seconds"].items():
            client = {name: values[job, gpu] for name, values in figure.items()}
            self.assertAlmostEqual(step / alone[job], 1, delta=0.25)
            self.assertAlmostEqual(client["slowdown_ratio"], client["step_shared_seconds"] / step, places=4)
            self.assertAlmostEqual(client["compute_seconds"] + client["communication_seconds"]
                                   + client["input_wait_seconds"], step, places=6)
            self.assertLess(client["input_wait_seconds"], 0.001, "its host waits for nothing")
            self.assertAlmostEqual(client["exposed_communication_ratio"], client["communication_seconds"] / step,
                                   places=4)
            self.assertGreater(client["compute_seconds"], 0.0095, "c is 10 ms")
            mates = [values for (_, on), values in figure["step_shared_seconds"].items() if on == gpu]
            computing = sum(figure["compute_seconds"][mate, gpu] / figure["step_shared_seconds"][mate, gpu]
                            for mate in alone)
            fastest = max(1 / figure["slowdown_ratio"][mate, gpu] for mate in alone)
            self.assertEqual(len(mates), 2)
            self.assertAlmostEqual(client["eta_ratio"], max(computing, fastest), places=4)
            self.assertAlmostEqual(busy[None, gpu], min(1, computing), places=4)
        for name, labels, _ in scraped:
            if name in ("crossover_gain_ratio", "crossover_slowdown_ratio"):
                self.assertEqual(labels["source"], "measured", "both ran alone before")
                self.assertEqual(labels["peer_gang"], "beta" if labels["gang"] == "alpha" else "alpha")
        totals = self.of(scraped, "crossover_gpu_memory_total_bytes")
        self.assertEqual(len(totals), 2)
        for key, used in self.of(scraped, "crossover_gpu_memory_used_bytes").items():
            self.assertTrue(0 < used <= totals[key])
        for ratio in self.of(scraped, "crossover_gpu_nvml_utilization_ratio").values():
            self.assertTrue(0 < ratio <= 1)

    def test_labels_are_those_that_the_reference_names(self):
        node = self.node()
        node.start_job("alpha")
        node.start_job("beta")
        while len(self.of(scraped := self.scrape(), "crossover_eta_ratio")) < 4:
            time.sleep(0.1)
        for name, labels, _ in scraped:
            self.assertEqual(set(labels), set(LABELS.get(name, ())) - _IN_PODS, name)
        self.assertGreater(len({name for name, _, _ in scraped} & set(LABELS)), 20)


if __name__ == "__main__":
    unittest.main()
