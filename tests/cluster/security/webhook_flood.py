"""Sends reviews to the webhook from many connections at once, without the API server. Any pod that reaches its port can
do the same."""

import json
import socket
import ssl
import threading
import time

from testing.cluster.rig.api import connected_in
from testing.processes import Failed
from tests.cluster.security.webhook_case import NAMESPACE, PORT, pod_that_says

PATH = "/admit/pods"
_PATIENCE_S = 30.0


def review(pod):
    """Returns what an API server asks about a pod that is to be created, for a dry run."""
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "00000000-0000-4000-8000-000000000000", "kind": kind, "operation": "CREATE", "namespace": NAMESPACE,
        "resource": {"group": "", "version": "v1", "resource": "pods"}, "userInfo": {"username": "a-user"},
        "dryRun": True, "object": pod, "oldObject": None}}


class Connection:
    """A Connection is kept open to the webhook and accepts any certificate. It sends bytes as they are: an HTTP library
    would correct malformed requests."""

    def __init__(self, cluster):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = connected_in(cluster.network_pid, (cluster.address, PORT))
        plain.settimeout(_PATIENCE_S)
        self._socket = context.wrap_socket(plain)

    def close(self):
        self._socket.close()

    def send(self, text):
        self._socket.sendall(text)

    def ask(self, body):
        """Sends a review. Returns the status and the body of the answer."""
        self.send(request(body))
        return self.answer()

    def answer(self):
        head = b""
        while b"\r\n\r\n" not in head:
            head += self._more()
        head, _, body = head.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        length = next(int(line.partition(":")[2]) for line in lines if line.lower().startswith("content-length:"))
        while len(body) < length:
            body += self._more()
        return int(lines[0].split()[1]), body

    def _more(self):
        more = self._socket.recv(1 << 16)
        if not more:
            raise Failed("the webhook has closed the connection without an answer")
        return more


def request(body):
    return (f"POST {PATH} HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Flood:
    """Sends reviews over several connections at a given rate for a time. `run` returns when all are answered."""

    _CONNECTIONS = 8

    def __init__(self, cluster, per_second, seconds):
        self._cluster, self._per_second = cluster, per_second
        self._each = per_second * seconds // self._CONNECTIONS
        self._body = json.dumps(review(pod_that_says("flood", {"share": "true"}))).encode()
        self._lock = threading.Lock()
        self.took_s, self.failures, self.lasted_s = [], [], 0.0

    def run(self):
        began = time.monotonic()
        threads = [threading.Thread(target=self._ask, args=(began + number / self._per_second,))
                   for number in range(self._CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.lasted_s = time.monotonic() - began

    def rate(self):
        """Returns the rate that was reached, in reviews per second."""
        return len(self.took_s) / self.lasted_s

    def _ask(self, first):
        took, failures = [], []
        try:
            connection = Connection(self._cluster)
            for number in range(self._each):
                time.sleep(max(0.0, first + number * self._CONNECTIONS / self._per_second - time.monotonic()))
                sent = time.monotonic()
                status, body = connection.ask(self._body)
                took.append(time.monotonic() - sent)
                if status != 200 or b'"allowed":true' not in body:
                    failures.append(f"status {status}: {body[:200]!r}")
            connection.close()
        except (Failed, OSError, ValueError, socket.timeout) as failure:
            failures.append(str(failure))
        with self._lock:
            self.took_s += took
            self.failures += failures
