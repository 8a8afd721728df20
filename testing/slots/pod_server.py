"""Serves as much of an API server as a node daemon needs, over plain HTTP: lists and watches the pods of one node.
All other lists are empty, and every write is accepted. Events are kept."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

_BOOKMARK_S = 30.0  # after a longer silence, clients take a watch for dead


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that was killed is not an error
            super().handle_error(request, client_address)


class PodServer:
    """A context manager. `shown` returns what clients see of a pod, or None if they must not see it. `unwanted` has
    the names of pods that a client asked to evict; the caller has to do that. `events` has what clients posted."""

    def __init__(self, shown=lambda pod: pod):
        self._shown = shown
        self.unwanted = []
        self.events = []
        self._pods = {}  # by UID
        # (when watches may report it, line). The version of an event is its position, from 1.
        self._events = []
        self._changed = threading.Condition()
        self._closed = False
        server = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                server._answer(self)

            def do_POST(self):
                *_, name, what = self.path.split("/")
                if what == "eviction":
                    server.unwanted.append(name)
                body = server._take(self, 201)
                if what == "events":
                    server.events.append(json.loads(body))

            def do_PATCH(self):
                server._take(self, 200)

            def log_message(self, *_):
                pass

        self._http = _Http(("127.0.0.1", 0), Answers)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._http.shutdown()
        self._http.server_close()

    def put(self, pod, lag_s=0.0):
        """Adds or changes a pod. Watches report that after `lag_s`, and after all earlier events."""
        with self._changed:
            known = pod["metadata"]["uid"] in self._pods
            self._pods[pod["metadata"]["uid"]] = self._tell("MODIFIED" if known else "ADDED", pod, lag_s)

    def delete(self, uid, lag_s=0.0):
        with self._changed:
            self._tell("DELETED", self._pods.pop(uid), lag_s)

    def _tell(self, kind, pod, lag_s):
        version = len(self._events) + 1
        pod = {**pod, "metadata": {**pod["metadata"], "resourceVersion": str(version)}}
        shown = self._shown(pod)
        event = {"type": kind, "object": shown} if shown else _bookmark(version)
        due = max(time.monotonic() + lag_s, self._events[-1][0] if self._events else 0.0)
        self._events.append((due, json.dumps(event).encode() + b"\n"))
        self._changed.notify_all()
        return pod

    def _answer(self, request):
        url = urlsplit(request.path)
        query, pods = parse_qs(url.query), url.path == "/api/v1/pods"
        if "watch" in query:
            self._watch(request, int(query["resourceVersion"][0]), self._events if pods else [])
            return
        with self._changed:
            items = [shown for shown in map(self._shown, self._pods.values()) if shown] if pods else []
            version = len(self._events) if pods else 0
        _answer(request, 200, {"kind": "List", "apiVersion": "v1", "items": items,
                               "metadata": {"resourceVersion": str(version)}})

    def _take(self, request, status):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        _answer(request, status, {})
        return body

    def _watch(self, request, version, events):
        _begin(request, 200, ("Transfer-Encoding", "chunked"))
        try:
            while (line := self._next(version, events)) is not None:
                if line:
                    version += 1
                line = line or json.dumps(_bookmark(version)).encode() + b"\n"
                request.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        except OSError:
            pass  # the client is gone
        request.close_connection = True

    def _next(self, version, events):
        """Returns the event after `version` once it may be reported, b"" if none comes in time, or None at the end."""
        end = time.monotonic() + _BOOKMARK_S
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                due = events[version][0] if version < len(events) else end
                if now >= due:
                    return events[version][1] if version < len(events) else b""
                self._changed.wait(due - now)
        return None


def _bookmark(version):
    return {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": str(version)}}}


def _answer(request, status, what):
    body = json.dumps(what).encode()
    _begin(request, status, ("Content-Length", str(len(body))))
    request.wfile.write(body)


def _begin(request, status, *headers):
    request.send_response(status)
    for header in (("Content-Type", "application/json"), *headers):
        request.send_header(*header)
    request.end_headers()
