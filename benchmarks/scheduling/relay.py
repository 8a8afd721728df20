"""A relay between a scheduler and the extender, in the cluster's network. It measures how long the scheduler waits for
answers. `python3 -m benchmarks.scheduling.relay PORT TO_PORT KEPT_BACK_S FILE` writes a JSON line for each answer.
"""

import contextlib
import http.client
import http.server
import json
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_TOP = Path(__file__).resolve().parents[2]
_PORT = 18300


@dataclass
class Relay:
    address: str
    log: Path

    def waits_ms(self):
        """Returns the wait for each pod: its last filter, and its prioritize if there was one. If one node is left,
        there is none."""
        waits = defaultdict(dict)
        for text in self.log.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            waits[line["pod"]][line["verb"]] = line["ms"]
        return [sum(verbs.values()) for verbs in waits.values() if "/filter" in verbs]


@contextlib.contextmanager
def running(large, kept_back_s=0.0):
    """Runs a relay between the clients of `address` and the extender."""
    name = f"relay-{kept_back_s}"
    relay = Relay(f"127.0.0.1:{_PORT}", large.cluster.directory / f"{name}.jsonl")
    large.cluster.processes.start(
        name, large.cluster.enter([sys.executable, "-B", "-m", "benchmarks.scheduling.relay", str(_PORT),
                                   str(large.control.replicas[0].verbs), str(kept_back_s), str(relay.log)]),
        env={"PYTHONPATH": str(_TOP)}, log=large.cluster.setup.logs / f"{name}.log")
    large.cluster.wait_for_servers(f"http://{relay.address}/ready")
    try:
        yield relay
    finally:
        large.cluster.processes.stop([name])


def _serve(port, to_port, kept_back_s, file):
    class Handler(http.server.BaseHTTPRequestHandler):
        """Handles one connection of the scheduler, with one connection of its own to the extender."""

        protocol_version = "HTTP/1.1"
        wbufsize = -1  # sends head and body in one packet
        extender = None

        def do_GET(self):  # pylint: disable=invalid-name
            self._answer(200, b"")

        def do_POST(self):  # pylint: disable=invalid-name
            question = self.rfile.read(int(self.headers["Content-Length"]))
            self.extender = self.extender or http.client.HTTPConnection("127.0.0.1", to_port)
            began = time.perf_counter()
            self.extender.request("POST", self.path, question, {"Content-Type": "application/json"})
            answer = self.extender.getresponse()
            said = answer.read()
            if kept_back_s:
                time.sleep(kept_back_s)
            self._answer(answer.status, said)
            took_ms = (time.perf_counter() - began) * 1e3
            pod = json.loads(question).get("Pod")
            if pod:
                file.write(json.dumps({"verb": self.path, "pod": pod["metadata"]["name"], "ms": took_ms}) + "\n")

        def _answer(self, status, said):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)
            self.wfile.flush()

        def log_message(self, *_arguments):  # pylint: disable=arguments-differ
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    with open(sys.argv[4], "w", encoding="utf-8", buffering=1) as log:
        _serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), log)
