"""A real Prometheus beside a test cluster's control plane. Node daemons' metrics get the labels that the chart's
PodMonitors give them and those that an operator adds, by a token that may read them; it has the chart's alerts.
Debian's is built without knowing Kubernetes, so it is told the pods.
"""

import http.client
import json
import subprocess
import time
import urllib.parse

from benchmarks.processes import Failed
from tests.cluster.rig.api import connected_in
from tests.cluster.rig.versions import TREE

_ADDRESS, _PORT = "127.0.0.1", 9090
_METRICS_PORT, _EXTENDERS_PORT = 9465, 8482  # of the chart's node daemons, and of its extenders
_SCHEDULERS_PORT = 10259  # of those beside extenders
_PATIENCE_S = 30.0
_ACCOUNT, _SPACE = "reads-metrics", "default"
_TOKEN_LASTS = "4h"
_ALERTS = TREE / "charts/crossover/files/alerts.yaml"
_STEP_S = 5  # between the moments that are looked at of a time that has passed


class Prometheus:
    """`every_s`: how often it looks at the daemons."""

    def __init__(self, cluster, every_s=1):
        self._cluster, self._every_s = cluster, every_s
        self._folder = cluster.directory / "prometheus"

    def start(self, pods, extenders=()):
        """Until it answers. `pods`: of the node daemons; `extenders`: likewise."""
        folder = self._folder
        folder.mkdir()
        self.look_at(pods)
        self._write("extenders", extenders, "extender", _EXTENDERS_PORT)
        self._write("schedulers", extenders, "scheduler", _SCHEDULERS_PORT, "scheduler")
        self.dishonour([])
        (folder / "token").write_text(reading_token(self._cluster), encoding="ascii")
        config = folder / "prometheus.json"  # which is YAML, too
        config.write_text(json.dumps(self._configuration()), encoding="utf-8")
        self._cluster.start("prometheus", [
            self._cluster.setup.programs.path("prometheus"), "--config.file", str(config), "--storage.tsdb.path",
            str(folder / "data"), "--web.listen-address", f"{_ADDRESS}:{_PORT}", "--log.level", "warn"])
        self._cluster.wait_for_servers(f"http://{_ADDRESS}:{_PORT}/-/ready")

    def look_at(self, pods):
        """These are the node daemons' pods from now on."""
        self._write("daemons", pods, "deviceplugin", _METRICS_PORT)

    def dishonour(self, pods):
        """These node daemons' metrics are looked at a second time, as whoever does not honour their labels does."""
        self._write("dishonoured", pods, "deviceplugin", _METRICS_PORT)

    def _write(self, name, pods, container, port, endpoint="metrics"):
        targets = [{"targets": [f"{pod['status']['podIP']}:{port}"], "labels": {
            "node": pod["spec"]["nodeName"], "namespace": pod["metadata"]["namespace"], "pod": pod["metadata"]["name"],
            "container": container, "endpoint": endpoint}} for pod in pods]
        new = self._folder / f"{name}.new"
        new.write_text(json.dumps(targets), encoding="utf-8")
        new.rename(self._folder / f"{name}.json")

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

    def up(self):
        """How many daemons it gets metrics from."""
        return sum(value for _, value in self.query('up{job="crossover-deviceplugin"}'))

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
        return {
            "global": {"scrape_interval": f"{self._every_s}s", "evaluation_interval": f"{self._every_s}s"},
            "rule_files": [str(_ALERTS)],
            "scrape_configs": [
                self._scrape("crossover-deviceplugin", "daemons"), self._scrape("crossover-extender", "extenders"),
                self._scrape("crossover-scheduler", "schedulers", scheme="https",
                             tls_config={"insecure_skip_verify": True}),
                self._scrape("dishonoured", "dishonoured", honor_labels=False)]}

    def _scrape(self, job, targets, **more):
        return {"job_name": job, "honor_labels": True,
                "authorization": {"credentials_file": str(self._folder / "token")},
                "file_sd_configs": [{"files": [str(self._folder / f"{targets}.json")], "refresh_interval": "1s"}],
                **more}


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
