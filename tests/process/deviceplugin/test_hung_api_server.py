"""Tests the daemon of a node whose API server accepts requests and never answers."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

_LISTS = ("/api/v1/pods?", "/api/v1/namespaces?", "/api/v1/nodes?")
_PATIENCE_S = 30.0
_ENDS_WITHIN_S = 10.0  # s; a third of what a request may take


class HungServer:
    """Accepts requests and never answers."""

    def __init__(self):
        self.requests, self.came = [], threading.Condition()
        self._connections = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            self._connections.append(connection)  # stays open
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection):
        try:
            text = connection.recv(65536).decode()
        except OSError:
            return
        with self.came:
            self.requests.append(text)
            self.came.notify_all()

    def await_all(self, parts):
        with self.came:
            return self.came.wait_for(lambda: all(any(part in r for r in self.requests) for part in parts), _PATIENCE_S)

    def close(self):
        self._socket.close()
        for connection in self._connections:
            connection.close()


class HungApiServer(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="crossover-hung-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.server = HungServer()
        self.addCleanup(self.server.close)

    def start(self):
        (self.directory / "kubelet" / "device-plugins").mkdir(parents=True)
        (self.directory / "none").write_text("none\n", encoding="ascii")
        config = {"socket": {"path": str(self.directory / "arbiter" / "arbiter.sock")},
                  "api": {"socket": "off"}, "profiles": "off",
                  "node": {"name": "node", "namespace": "system", "library": os.environ["LIBRARY"],
                           "host_directory": str(self.directory / "host"),
                           "kubelet_directory": str(self.directory / "kubelet"),
                           "mps_directory": str(self.directory / "mps"),
                           "api_server": {"server": self.server.url, "ca_file": str(self.directory / "none"),
                                          "token_file": str(self.directory / "none")}}}
        (self.directory / "node.json").write_text(json.dumps(config), encoding="utf-8")
        daemon = subprocess.Popen([os.environ["DEVICEPLUGIN"], "--config", str(self.directory / "node.json")],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon

    def test_the_daemon_ends_although_its_requests_are_not_answered(self):
        daemon = self.start()
        self.assertTrue(self.server.await_all(_LISTS), self.server.requests)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(_ENDS_WITHIN_S), 0)
        self.assertNotIn("listing", daemon.stderr.read(), "its end is no fault of the API server's")


if __name__ == "__main__":
    unittest.main()
