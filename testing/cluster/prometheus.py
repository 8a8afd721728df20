"""Runs a real Prometheus beside a test cluster's control plane. It scrapes what the chart's PodMonitors name, as if an
operator had read them (pod_monitors.py), with a token that may read metrics. It has the chart's alerts. Debian's
Prometheus is built without Kubernetes discovery, so it is told the pods.
"""

import http.client
import json
import subprocess
import time
import urllib.parse

from testing.cluster import pod_monitors
from testing.cluster.rig.api import connected_in
from testing.cluster.rig.versions import TREE
from testing.processes import Failed

_ADDRESS, _PORT = "127.0.0.1", 9090
_PATIENCE_S = 30.0
_ACCOUNT, _SPACE = "reads-metrics", "default"
_TOKEN_LASTS = "4h"
_ALERTS = TREE / "charts/crossover/files/alerts.yaml"
_STEP_S = 5  # between the moments at which a query looks at the past
PLAIN = "plain"  # the label `cluster` of what is scraped without an operator
# Each way to scrape the pods has its last relabelling rules and its other settings.
_WATCHERS = {
    "as-told": ([], {}),
    # It sets the two labels that the chart's README asks for, and no others.
    "plainly": ([{"action": "labeldrop", "regex": "namespace|pod|container|endpoint"},
                 {"target_label": "cluster", "replacement": PLAIN}], {}),
    "dishonouring": ([{"target_label": "job", "replacement": "dishonoured"}], {"honor_labels": False})}


class Prometheus:
    """Runs one server. `every_s` is how often it scrapes the pods."""

    def __init__(self, cluster, every_s=1):
        self._cluster, self._every_s = cluster, every_s
        self._folder = cluster.directory / "prometheus"

    def start(self, pods):
        """Starts it and blocks until it answers. `pods` are node daemons' and extenders', or some of them."""
        folder = self._folder
        folder.mkdir()
        self.look_at(pods)
        self.look_plainly_at([])
        self.dishonour([])
        (folder / "token").write_text(reading_token(self._cluster), encoding="ascii")
        config = folder / "prometheus.json"  # JSON is YAML, too
        config.write_text(json.dumps(self._configuration()), encoding="utf-8")
        self._cluster.start("prometheus", [
            self._cluster.setup.programs.path("prometheus"), "--config.file", str(config), "--storage.tsdb.path",
            str(folder / "data"), "--web.listen-address", f"{_ADDRESS}:{_PORT}", "--log.level", "warn"])
        self._cluster.wait_for_servers(f"http://{_ADDRESS}:{_PORT}/-/ready")

    def look_at(self, pods):
        """Replaces the pods that are scraped."""
        self._write("as-told", pods)

    def look_plainly_at(self, pods):
        """Replaces the pods that are scraped a second time, as in an installation without the operator."""
        self._write("plainly", pods)

    def dishonour(self, pods):
        """Replaces the pods that are scraped a third time, by a server that does not honour their labels."""
        self._write("dishonouring", pods)

    def _write(self, watcher, pods):
        new = self._folder / f"{watcher}.new"
        new.write_text(json.dumps(pod_monitors.targets(pods)), encoding="utf-8")
        new.rename(self._folder / f"{watcher}.json")

    def query(self, expression, at=None):
        """Returns [(labels, value)] at one instant. `at` is in seconds since 1970; None means now."""
        words = {"query": expression, **({"time": f"{at:.3f}"} if at else {})}
        return [(found["metric"], float(found["value"][1])) for found in self._ask("query", words)["result"]]

    def ever(self, expression, since):
        """Returns whether the expression has a result now, or had one at some moment since then (seconds since
        1970)."""
        now = time.time()
        begin = now - (now - since) // _STEP_S * _STEP_S
        words = {"query": expression, "start": f"{begin:.3f}", "end": f"{now:.3f}", "step": str(_STEP_S)}
        return bool(self._ask("query_range", words)["result"])

    def values_of(self, label, series, since):
        """Returns the values that a label of these series has had since then."""
        words = {"match[]": series, "start": f"{since:.3f}", "end": f"{time.time():.3f}"}
        return self._ask(f"label/{label}/values", words)

    def _ask(self, verb, words):
        connection = http.client.HTTPConnection(_ADDRESS, timeout=_PATIENCE_S)
        connection.sock = connected_in(self._cluster.network_pid, (_ADDRESS, _PORT))
        try:
            connection.request("GET", f"/api/v1/{verb}?{urllib.parse.urlencode(words)}")
            said = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if said.get("status") != "success":
            raise Failed(f"Prometheus: {verb} {words}: {said.get('error')}")
        return said["data"]

    def _configuration(self):
        token = {"credentials_file": str(self._folder / "token")}
        scrapes = [scrape for monitor in pod_monitors.monitors() for scrape in pod_monitors.scrapes(monitor, token)]
        return {
            "global": {"scrape_interval": f"{self._every_s}s", "evaluation_interval": f"{self._every_s}s"},
            "rule_files": [str(_ALERTS)],
            "scrape_configs": [self._by(watcher, scrape) for watcher in _WATCHERS for scrape in scrapes]}

    def _by(self, watcher, scrape):
        relabelings, different = _WATCHERS[watcher]
        return scrape | different | {
            "job_name": f"{watcher}/{scrape['job_name']}", "relabel_configs": scrape["relabel_configs"] + relabelings,
            "file_sd_configs": [{"files": [str(self._folder / f"{watcher}.json")], "refresh_interval": "1s"}]}


def judged(cluster, text):
    """Returns (exit code, output) of Prometheus' own check of metrics. It looks at names, units and help texts."""
    done = subprocess.run([cluster.setup.programs.path("promtool"), "check", "metrics"], input=text,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def reading_token(cluster):
    """Returns the token of an account that may get the path /metrics, and nothing else."""
    cluster.kubectl("create", "serviceaccount", _ACCOUNT, "--namespace", _SPACE)
    cluster.kubectl("create", "clusterrole", _ACCOUNT, "--verb", "get", "--non-resource-url", "/metrics")
    cluster.kubectl("create", "clusterrolebinding", _ACCOUNT, "--clusterrole", _ACCOUNT, "--serviceaccount",
                    f"{_SPACE}:{_ACCOUNT}")
    return cluster.kubectl("create", "token", _ACCOUNT, "--namespace", _SPACE, "--duration", _TOKEN_LASTS).strip()
