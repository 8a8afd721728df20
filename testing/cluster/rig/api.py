"""Talks to the API server without kubectl: a request takes milliseconds, where kubectl takes a tenth of a second of a
core. Measurements need this: they must not keep the machine busy themselves.
"""

import contextlib
import ctypes
import http.client
import json
import os
import socket
import ssl
import threading
import time

from testing.cluster.rig.families import IPV4
from testing.processes import Failed

_PATIENCE_S = 30.0
_RETRY_S = 0.5
_CLONE_NEWNET = 0x40000000


class Api:
    """An Api is a client for one thread at a time. It acts as the account of `token`, or as the administrator without
    one. `namespace_pid` is a process in the cluster's network namespace."""

    def __init__(self, namespace_pid, certificates, token=None):
        self._pid = namespace_pid
        self._tls = ssl.create_default_context(cafile=str(certificates.authority))
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        if not token:
            self._tls.load_cert_chain(str(certificates.crt("admin")), str(certificates.key("admin")))
        self._connection = None

    def close(self):
        if self._connection:
            self._connection.close()
            self._connection = None

    def get(self, path):
        return self._call("GET", path)

    def create(self, path, thing):
        return self._call("POST", path, thing)

    def apply(self, path, thing):
        """Creates or changes an object as the owner of these fields (server-side apply)."""
        return self._call("PATCH", f"{path}?fieldManager=test&force=true", thing, "application/apply-patch+yaml")

    def merge(self, path, changes):
        """Changes an existing object by a merge patch. A null removes a field."""
        return self._call("PATCH", path, changes, "application/merge-patch+json")

    def delete(self, path):
        """Deletes an object and what depends on it. Returns None if it does not exist."""
        return self._call("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions",
                                           "propagationPolicy": "Background"})

    def connect(self):
        """Returns a new connection, for a watch."""
        connection = http.client.HTTPSConnection(IPV4.control_plane, timeout=_PATIENCE_S, context=self._tls)
        plain = connected_in(self._pid, (IPV4.control_plane, 443))
        connection.sock = self._tls.wrap_socket(plain, server_hostname=IPV4.control_plane)
        return connection

    def _call(self, method, path, body=None, kind="application/json"):
        kept = self._connection is not None
        try:
            status, said = self._ask(method, path, body, kind)
        except (OSError, http.client.HTTPException) as failure:
            self.close()
            if kept:  # the server closes connections that are idle for a while
                return self._call(method, path, body, kind)
            raise Failed(f"{method} {path}: {failure}") from failure
        if status == 404 and method == "DELETE":
            return None
        if status >= 300:
            raise Failed(f"{method} {path}: status {status}: {said.decode(errors='replace')[:500]}")
        return json.loads(said)

    def _ask(self, method, path, body, kind):
        self._connection = self._connection or self.connect()
        text = json.dumps(body) if body else None
        self._connection.request(method, path, text, self._headers | ({"Content-Type": kind} if body else {}))
        answer = self._connection.getresponse()
        return answer.status, answer.read()


class Watch:
    """Follows a collection from its current state, in a thread of its own. It calls `on_event(when, kind, object)`,
    where `when` is the monotonic clock, in seconds, at which the event arrived. Objects that exist already come as
    ADDED. With `patient` the watch outlives the API server: it connects again, and objects deleted meanwhile come as
    DELETED. Else the end of the watch comes as ERROR."""

    def __init__(self, api, path, on_event, patient=False):
        self._api, self._path, self._on_event, self._patient = api, path, on_event, patient
        self._there = {}  # {UID: object}
        self._stopped = False
        self._begin()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._stopped = True
        while self._thread.is_alive():  # which may be about to connect again
            with contextlib.suppress(OSError, AttributeError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)
            self._thread.join(_RETRY_S)
        self._connection.close()

    def _begin(self):
        listed = self._api.get(self._path)
        gone = self._there.keys() - {thing["metadata"]["uid"] for thing in listed["items"]}
        for thing in [self._there[uid] for uid in gone]:
            self._tell("DELETED", thing)
        for thing in listed["items"]:
            self._tell("ADDED", thing)
        self._version = listed["metadata"]["resourceVersion"]
        self._connection = self._api.connect()
        self._connection.sock.settimeout(None)

    def _tell(self, kind, thing):
        if kind == "DELETED":
            self._there.pop(thing["metadata"]["uid"], None)
        elif kind in ("ADDED", "MODIFIED"):
            self._there[thing["metadata"]["uid"]] = thing
        self._on_event(time.monotonic(), kind, thing)

    def _follow(self):
        self._read()
        while self._patient and not self._stopped:
            time.sleep(_RETRY_S)
            with contextlib.suppress(Failed, OSError):
                self._begin()
                self._read()
        if not self._stopped:
            self._on_event(time.monotonic(), "ERROR", {"message": f"the watch of {self._path} has ended"})

    def _read(self):
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            self._connection.request("GET", f"{self._path}?watch=1&resourceVersion={self._version}&timeoutSeconds=7200")
            answer = self._connection.getresponse()
            while line := answer.readline():
                event = json.loads(line)
                if event["type"] == "ERROR" and self._patient:
                    return
                self._tell(event["type"], event["object"])


def connected_in(pid, address):
    """Returns a socket that was connected in the network namespace of a process. A socket stays in the namespace where
    it was made. The thread that made it ends, since it may be unable to leave the namespace that it entered."""
    made = []

    def enter_and_connect():
        with open(f"/proc/{pid}/ns/net", "rb") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                made.append(OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno())))
                return
        try:
            made.append(socket.create_connection(address, _PATIENCE_S))
        except OSError as failure:
            made.append(failure)

    thread = threading.Thread(target=enter_and_connect)
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    made[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made[0]
