"""Provides a test case for the webhook. It has a cluster on which no pod can run: a pod waits behind its gate, or for a
node with the resources it asks for. The webhook runs beside the control plane as it is shipped.
"""

import contextlib
import json
import os
import threading
import unittest
from pathlib import Path

from testing.cluster.pods import restricted
from testing.cluster.rig import Cluster
from testing.cluster.services import service
from testing.processes import Failed
from tests.process.demo.leftovers import until

NAMESPACE, SYSTEM = "team", "crossover-system"
MANIFESTS = Path(__file__).resolve().parents[3] / "manifests"
PORT = 8444
PATIENCE_S = 60.0


class WebhookCase(unittest.TestCase):
    """Starts one webhook for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=1)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        for name in (SYSTEM, NAMESPACE):
            cls.cluster.namespace(name)
        for name in ("extender-account", "admission"):
            cls.cluster.kubectl("apply", "--filename", str(MANIFESTS / "rbac" / f"{name}.yaml"))
        cls.cluster.apply(service("crossover-extender", SYSTEM, cls.cluster.address, PORT))
        cls.configure()
        token = cls.cluster.kubectl("create", "token", "crossover-extender", "--namespace", SYSTEM)
        cls.token = cls.cluster.directory / "admission-token"
        cls.token.write_text(token, encoding="utf-8")
        cls.start_webhook()

    @classmethod
    def configure(cls):
        cls.cluster.kubectl("apply", "--filename", str(MANIFESTS / "webhook" / "configuration.yaml"))

    @classmethod
    def launch_webhook(cls, environment=None):
        """Starts the webhook without waiting for it."""
        cluster = cls.cluster
        cluster.start("admission", ["env", *(f"{name}={value}" for name, value in (environment or {}).items()),
                                    os.environ["ADMISSION_WEBHOOK"], cluster.server,
                                    str(cluster.setup.certificates.authority), str(cls.token), cluster.address,
                                    str(PORT), str(cluster.directory / "admission.pem")])

    @classmethod
    def start_webhook(cls):
        cls.launch_webhook()
        cls.await_answers()

    @classmethod
    def await_answers(cls):
        def answers():
            try:
                return "crossover.dev/managed" in cls.dry_run(api)["metadata"].get("labels", {})
            except Failed:
                return False
        with contextlib.closing(cls.cluster.api()) as api:
            if not until(answers, PATIENCE_S):
                raise Failed(f"the webhook does not answer: {cls.said()[-2000:]}")

    @classmethod
    def stop_webhook(cls):
        cls.cluster.processes.stop(["admission"])

    @classmethod
    def said(cls):
        return (cls.cluster.setup.logs / "admission.log").read_text(errors="replace")

    @classmethod
    def dry_run(cls, api):
        return api.create(f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All", pod_that_says("dry", {"share": "true"}))

    def create(self, pod, namespace=NAMESPACE):
        """Creates a pod and returns it as the API server stored it."""
        return json.loads(self.cluster.kubectl("create", "--namespace", namespace, "--filename", "-", "--output",
                                               "json", input=json.dumps(pod)))

    def secret(self):
        return self.cluster.get("secret", "crossover-admission", SYSTEM)["data"]

    def patch_secret(self, data):
        self.cluster.kubectl("patch", "secret", "crossover-admission", "--namespace", SYSTEM, "--type", "merge",
                             "--patch", json.dumps({"data": data}))

    def tearDown(self):
        self.cluster.kubectl("delete", "pods", "--all", "--namespace", NAMESPACE, "--now")


class Load:
    """Creates pods as dry runs, one after the other, in a thread with a connection of its own."""

    def __init__(self, cluster, dry_run):
        self.done, self.failures = 0, []
        self._api, self._dry_run = cluster.api(), dry_run
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self):
        self._ends.set()
        self._thread.join()
        self._api.close()

    def goes_on(self):
        after = self.done
        return until(lambda: self.done > after + 20, PATIENCE_S)

    def _run(self):
        while not self._ends.is_set():
            try:
                self._dry_run(self._api)
                self.done += 1
            except Failed as failure:
                self.failures.append(str(failure))


def pod_that_says(name, annotations):
    """Returns a pod that asks for two whole GPUs and has these annotations of Crossover."""
    pod = restricted(name, "crossover.test/none:1", ["/bin/sleep", "600"])
    pod["metadata"]["annotations"] = {f"crossover.dev/{key}": value for key, value in annotations.items()}
    pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    return pod
