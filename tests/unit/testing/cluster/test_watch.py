"""Tests how a watch of the API server ends."""

import http.client
import socket
import threading
import unittest

from testing.cluster.rig.api import Watch

_WITHIN_S = 20
_BEGINS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_ENDS = b"0\r\n\r\n"


class _Socket(socket.socket):
    """Tells when it is shut down."""

    told = None

    def shutdown(self, how):
        super().shutdown(how)
        self.told.set()


class _Api:
    """Stands for an API server whose first watch ends at once, and whose second list takes until `go`."""

    def __init__(self):
        self.listing, self.go, self.shut = threading.Event(), threading.Event(), threading.Event()
        self._lists, self._servers = 0, []

    def get(self, _path):
        self._lists += 1
        if self._lists == 2:
            self.listing.set()
            self.go.wait(_WITHIN_S)
        return {"items": [], "metadata": {"resourceVersion": "1"}}

    def connect(self):
        server, client = socket.socketpair()
        told = _Socket(fileno=client.detach())
        told.told = self.shut
        connection = http.client.HTTPConnection("server")
        connection.sock = told
        server.sendall(_BEGINS + (b"" if self._servers else _ENDS))
        self._servers.append(server)
        return connection

    def close(self):
        self.go.set()
        for server in self._servers:
            server.close()


class WatchTest(unittest.TestCase):
    def test_a_watch_that_is_connecting_again_ends_when_it_has_connected(self):
        api = _Api()
        self.addCleanup(api.close)
        watch = Watch(api, "/api/v1/pods", lambda *event: None, patient=True)
        self.assertTrue(api.listing.wait(_WITHIN_S))
        ending = threading.Thread(target=watch.__exit__, args=(None, None, None), daemon=True)
        ending.start()
        self.assertTrue(api.shut.wait(_WITHIN_S))
        api.go.set()
        ending.join(_WITHIN_S)
        self.assertFalse(ending.is_alive(), "expected the watch to end, got one that reads for good")


if __name__ == "__main__":
    unittest.main()
