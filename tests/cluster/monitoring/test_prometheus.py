"""Tests the dashboards with a real Prometheus, which scrapes a daemon beside which two jobs share GPUs. Every query is
answered, and those that say what sharing gains agree with the daemon's own `top`. That holds with the labels that a
plain configuration adds, and with those of the chart's PodMonitor as a Prometheus operator reads it. The test needs no
cluster, but programs that the cluster's installer brings.
"""

import json
import os
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from testing.ports import free_port

_BUILD = Path(os.environ["BUILD"])
os.environ.setdefault("BIN", str(_BUILD / "bin"))
os.environ.setdefault("LIBRARY", str(_BUILD / "lib/libcrossover.so"))
os.environ.setdefault("SIMGPU_LIBRARIES", str(_BUILD / "simgpu/lib"))

# These imports come after the variables are set, because the modules read them.
from testing.chart import find, objects, promtool  # noqa: E402
from testing.cluster import pod_monitors  # noqa: E402
from tests.charts.test_chargeback import of_chargeback, of_metrics  # noqa: E402
from tests.charts.test_monitoring import dashboards, queries, query_of  # noqa: E402
from tests.process.cli.machine import Node, clients, end_quietly  # noqa: E402

_GAIN = "crossover_gain_ratio{source='measured'}"
_GAINS = f"max by (node, gpu_uuid) ({_GAIN})"
# These panels show something for a daemon that serves no kubelet.
_SHOWN = {"fleet.json": ("GPUs with several jobs", "Work per time, mean", "GPU hours gained",
                         "GPUs' worth of work gained", "Utilisation, before and after", "GPUs in use, by namespace",
                         "Slowdown, by job"),
          "gpu.json": ("Who waits for whom", "Holds", "Gain", "Against the best that turns can reach", "Utilisation",
                       "Slowdown", "Turns", "Clients", "Memory", "Hand-overs"),
          "job.json": ("An iteration, alone and shared", "Slowdown", "Gain of its GPUs", "What an iteration is made of",
                       "Exposed communication", "Age of the step alone", "Length of a turn, mean")}
_NAME = "crossover-deviceplugin"
_PLAIN = {"node": "n1"}
# These labels are of the pod that is scraped. Those of the metrics are of the pods that the metrics are about.
_OPERATORS = {**_PLAIN, "namespace": "crossover-system", "pod": f"{_NAME}-x7x2p", "container": "deviceplugin",
              "endpoint": "metrics"}


def plainly(target):
    """Returns a scrape configuration that honours labels and adds these and `job`."""
    return {"job_name": _NAME, "honor_labels": True, "static_configs": [{"targets": [target], "labels": _PLAIN}]}


def by_the_pod_monitor(target):
    """Returns a scrape configuration as for a running pod of the chart's DaemonSet."""
    monitor, = (item for item in pod_monitors.monitors() if item["metadata"]["name"] == _NAME)
    scrape, = pod_monitors.scrapes(monitor)
    pod = find(objects(), "DaemonSet", _NAME)["spec"]["template"]
    container, = pod["spec"]["containers"]
    port, = container["ports"]
    address, port["containerPort"] = target.split(":")
    pod["metadata"] |= {"name": _OPERATORS["pod"], "namespace": _OPERATORS["namespace"]}
    pod["spec"]["nodeName"] = _OPERATORS["node"]
    pod["status"] = {"podIP": address, "phase": "Running"}
    return scrape | {"static_configs": pod_monitors.targets([pod])}


class Prometheus:
    """Runs one server with one scrape configuration."""

    def __init__(self, test, folder, scrape):
        folder.mkdir()
        config = folder / "prometheus.yaml"
        config.write_text(json.dumps({"scrape_configs": [{**scrape, "scrape_interval": "1s"}]}), encoding="utf-8")
        self.url = f"http://127.0.0.1:{free_port()}"
        program = Path(promtool()).parent / "prometheus"
        with (folder / "prometheus.log").open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [program, f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
                 f"--web.listen-address={self.url.removeprefix('http://')}"], stdout=subprocess.DEVNULL, stderr=log)
        test.addCleanup(end_quietly, self._process)

    def ask(self, query):
        """Returns [(labels, value)]. Raises HTTPError for a query that Prometheus rejects."""
        with urllib.request.urlopen(f"{self.url}/api/v1/query?" + urllib.parse.urlencode({"query": query}),
                                    timeout=60) as answer:
            found = json.load(answer)
        return [(sample["metric"], float(sample["value"][1])) for sample in found["data"]["result"]]

    def await_samples(self, query, enough, patience_s=90.0):
        """Blocks until `enough(samples)` holds, and returns the samples."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            try:
                samples = self.ask(query)
                if enough(samples):
                    return samples
            except OSError:  # it does not listen yet
                if self._process.poll() is not None:
                    raise
            time.sleep(0.2)
        raise AssertionError(f"{query}: not within {patience_s:.0f} s")


class Dashboards(unittest.TestCase):
    def test_queries_are_answered_with_what_the_daemon_says(self):
        node = Node(self, start=False, metrics="{listen: '127.0.0.1:0'}")
        said = node.start_daemon(until="metrics on port ", environment=node.environment)
        node.await_word("api on ")
        for job in ("alpha", "beta"):
            node.start_job(job)
        target = f"127.0.0.1:{said.split()[-1]}"
        plain, operators = (Prometheus(self, node.directory / scrape.__name__, scrape(target))
                            for scrape in (plainly, by_the_pod_monitor))
        for prometheus, labels in ((plain, _PLAIN), (operators, _OPERATORS)):
            self.await_steady_gains(prometheus)
            self.assertEqual([of for of, _ in prometheus.ask("up")], [
                {"__name__": "up", "job": _NAME, "instance": target, **labels}])
        for prometheus in (plain, operators):
            self.gains_are_those_of_top(prometheus, node)
            self.all_is_answered(prometheus)
        with self.assertRaises(urllib.error.HTTPError, msg="the control"):
            plain.ask("sum(rate(x))")

    def await_steady_gains(self, prometheus):
        prometheus.await_samples(f"min_over_time(({_GAINS})[5s:1s])", lambda samples: len(samples) == 2)

    def gains_are_those_of_top(self, prometheus, node):
        """Compares gains that are scraped with those that `top` says from before the scrape until after it: what jobs
        gain changes while they run."""
        tops = []

        def look():
            top = node.await_top(lambda top: len(clients(top)) == 4 and all("gain" in gpu for gpu in top["gpus"]))
            tops.append({gpu["uuid"]: gpu["gain"] for gpu in top["gpus"]})

        def scraped_since(samples):
            look()
            return len(samples) == 2 and min(at for _, at in samples) > begin

        look()
        begin = time.time()
        prometheus.await_samples(f"min by (gpu_uuid) (timestamp({_GAIN}))", scraped_since)
        scraped = prometheus.ask(_GAINS)
        look()
        self.assertEqual(len(scraped), 2)
        for labels, gain in scraped:
            self.assertEqual(labels["node"], "n1")
            said = [top[labels["gpu_uuid"]] for top in tops]
            self.assertGreater(gain, 0.97 * min(said), said)
            self.assertLess(gain, 1.03 * max(said), said)

    def all_is_answered(self, prometheus):
        for name, dashboard in dashboards().items():
            for _, query in queries(dashboard):
                prometheus.ask(query)  # raises HTTPError if it is rejected
            for title in _SHOWN.get(name, ()):
                with self.subTest(f"{name}: {title}"):  # one of them is sampled once a minute
                    prometheus.await_samples(query_of(name, title), bool)
        self.charges_are_what_the_page_promises(prometheus)
        waits = {(labels["gang"], labels["peer_gang"]) for labels, share in
                 prometheus.ask(query_of("gpu.json", "Who waits for whom")) if share > 0}
        self.assertEqual(waits, {("alpha", "beta"), ("beta", "alpha")})
        before, after = (prometheus.ask(query_of("fleet.json", "Utilisation, before and after", i))[0][1]
                         for i in (0, 1))
        self.assertLess(before, after)

    def charges_are_what_the_page_promises(self, prometheus):
        """Looks at the minute that has passed: two GPUs with two jobs each."""
        for query in of_metrics():
            prometheus.ask(query)  # raises HTTPError if it is rejected
        with_sharing, without = (f"sum({query.replace('1h', '1m').replace(':1m', ':1s').replace('5m', '10s')})"
                                 for query in of_chargeback())
        used = prometheus.await_samples(with_sharing, bool)[0][1] * 60
        self.assertGreater(used, 0)
        self.assertLess(used, 2.2, "GPU minutes of two GPUs")
        self.assertGreater(prometheus.await_samples(without, bool)[0][1], 0)


if __name__ == "__main__":
    unittest.main()
