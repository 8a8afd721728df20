"""A real Prometheus beside a test cluster's control plane. It looks at what the chart's PodMonitors name, as it would
where an operator had read them (pod_monitors.py), by a token that may read metrics; it has the chart's alerts. Debian's
is built without knowing Kubernetes, so it is told the pods.
"""

import http.client
import json
import subprocess
import time
import urllib.parse

from benchmarks.processes import Failed
from tests.cluster import pod_monitors
from tests.cluster.rig.api import connected_in
from tests.cluster.rig.versions import TREE

_ADDRESS, _PORT = "127.0.0.1", 9090
_PATIENCE_S = 30.0
_ACCOUNT, _SPACE = "reads-metrics", "default"
_TOKEN_LASTS = "4h"
_ALERTS = TREE / "charts/crossover/files/alerts.yaml"
_STEP_S = 5  # between the moments that are looked at of a time that has passed
PLAIN = "plain"  # the label `cluster` of what is looked at without an operator; else there is none
# Who looks at pods: the relabelling that comes last then, and what else is different.
_WATCHERS = {
    "as-told": ([], {}),
    # With the two labels that the chart's README asks for, and no others.
    "plainly": ([{"action": "labeldrop", "regex": "namespace|pod|container|endpoint"},
                 {"target_label": "cluster", "replacement": PLAIN}], {}),
    "dishonouring": ([{"target_label": "job", "replacement": "dishonoured"}], {"honor_labels": False})}


class Prometheus:
    """`every_s`: how often it looks at pods."""

    def __init__(self, cluster, every_s=1):
        self._cluster, self._every_s = cluster, every_s
        self._folder = cluster.directory / "prometheus"

    def start(self, pods):
        """Until it answers. `pods`: node daemons' and extenders', or some of them."""
        folder = self._folder
        folder.mkdir()
        self.look_at(pods)
        self.look_plainly_at([])
        self.dishonour([])
        (folder / "token").write_text(reading_token(self._cluster), encoding="ascii")
        config = folder / "prometheus.json"  # which is YAML, too
        config.write_text(json.dumps(self._configuration()), encoding="utf-8")
        self._cluster.start("prometheus", [
            self._cluster.setup.programs.path("prometheus"), "--config.file", str(config), "--storage.tsdb.path",
            str(folder / "data"), "--web.listen-address", f"{_ADDRESS}:{_PORT}", "--log.level", "warn"])
        self._cluster.wait_for_servers(f"http://{_ADDRESS}:{_PORT}/-/ready")

    def look_at(self, pods):
        """These are the pods from now on."""
        self._write("as-told", pods)

    def look_plainly_at(self, pods):
        """These are looked at a second time, as whoever has no operator does."""
        self._write("plainly", pods)

    def dishonour(self, pods):
        """Likewise, as whoever does not honour their labels does."""
        self._write("dishonouring", pods)

    def _write(self, watcher, pods):
        new = self._folder / f"{watcher}.new"
        new.write_text(json.dumps(pod_monitors.targets(pods)), encoding="utf-8")
        new.rename(self._folder / f"{watcher}.json")

    def query(self, expression, at=None):
        """[(labels, value)] of an instant; `at`: in seconds since 1970, or now."""
        words = {"query": expression, **({"time": f"{at:.3f}"} if at else {})}
        return [(found["metric"], float(found["value"][1])) for found in self._ask("query", words)["result"]]

    def ever(self, expression, since):
        """Whether it has anything to say now, or had at some moment since then, in seconds since 1970."""
        now = time.time()
        begin = now - (now - since) // _STEP_S * _STEP_S
        words = {"query": expression, "start": f"{begin:.3f}", "end": f"{now:.3f}", "step": str(_STEP_S)}
        return bool(self._ask("query_range", words)["result"])

    def values_of(self, label, series, since):
        """What a label of these series has been since then."""
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
    """(exit code, what it says) of Prometheus' own judgement of metrics: by name, unit and help."""
    done = subprocess.run([cluster.setup.programs.path("promtool"), "check", "metrics"], input=text,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def reading_token(cluster):
    """Of an account that may get the path /metrics, and nothing else."""
    cluster.kubectl("create", "serviceaccount", _ACCOUNT, "--namespace", _SPACE)
    cluster.kubectl("create", "clusterrole", _ACCOUNT, "--verb", "get", "--non-resource-url", "/metrics")
    cluster.kubectl("create", "clusterrolebinding", _ACCOUNT, "--clusterrole", _ACCOUNT, "--serviceaccount",
                    f"{_SPACE}:{_ACCOUNT}")
    return cluster.kubectl("create", "token", _ACCOUNT, "--namespace", _SPACE, "--duration", _TOKEN_LASTS).strip()
