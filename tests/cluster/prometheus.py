"""A real Prometheus beside a test cluster's control plane. Node daemons' metrics get the labels that the chart's
PodMonitors give them and those that an operator adds, by a token that may read them; it has the chart's alerts.
Debian's is built without knowing Kubernetes, so it is told the pods.
"""

import http.client
import json
import urllib.parse

from benchmarks.processes import Failed
from tests.cluster.rig.api import connected_in
from tests.cluster.rig.versions import TREE

_ADDRESS, _PORT = "127.0.0.1", 9090
_METRICS_PORT, _EXTENDERS_PORT = 9465, 8482  # of the chart's node daemons, and of its extenders
_PATIENCE_S = 30.0
_ACCOUNT, _SPACE = "reads-metrics", "default"
_TOKEN_LASTS = "4h"
_ALERTS = TREE / "charts/crossover/files/alerts.yaml"


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

    def _write(self, name, pods, container, port):
        targets = [{"targets": [f"{pod['status']['podIP']}:{port}"], "labels": {
            "node": pod["spec"]["nodeName"], "namespace": pod["metadata"]["namespace"], "pod": pod["metadata"]["name"],
            "container": container, "endpoint": "metrics"}} for pod in pods]
        new = self._folder / f"{name}.new"
        new.write_text(json.dumps(targets), encoding="utf-8")
        new.rename(self._folder / f"{name}.json")

    def query(self, expression, at=None):
        """[(labels, value)] of an instant; `at`: in seconds since 1970, or now."""
        words = {"query": expression, **({"time": f"{at:.3f}"} if at else {})}
        return [(found["metric"], float(found["value"][1])) for found in self._ask("query", words)["result"]]

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
            raise Failed(f"Prometheus: {words['query']}: {said.get('error')}")
        return said["data"]

    def _configuration(self):
        return {
            "global": {"scrape_interval": f"{self._every_s}s", "evaluation_interval": f"{self._every_s}s"},
            "rule_files": [str(_ALERTS)],
            "scrape_configs": [{
                "job_name": job, "honor_labels": True,
                "authorization": {"credentials_file": str(self._folder / "token")},
                "file_sd_configs": [{"files": [str(self._folder / f"{targets}.json")], "refresh_interval": "1s"}]}
                for job, targets in (("crossover-deviceplugin", "daemons"), ("crossover-extender", "extenders"))]}


def reading_token(cluster):
    """Of an account that may get the path /metrics, and nothing else."""
    cluster.kubectl("create", "serviceaccount", _ACCOUNT, "--namespace", _SPACE)
    cluster.kubectl("create", "clusterrole", _ACCOUNT, "--verb", "get", "--non-resource-url", "/metrics")
    cluster.kubectl("create", "clusterrolebinding", _ACCOUNT, "--clusterrole", _ACCOUNT, "--serviceaccount",
                    f"{_SPACE}:{_ACCOUNT}")
    return cluster.kubectl("create", "token", _ACCOUNT, "--namespace", _SPACE, "--duration", _TOKEN_LASTS).strip()
