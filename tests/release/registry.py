"""Serves a registry of images on loopback, which keeps all in memory. It knows as much of the distribution
specification as pushing an image, reading it and listing what refers to it need."""

import contextlib
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

_INDEX = "application/vnd.oci.image.index.v1+json"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_words):
        pass

    def _answer(self, code, content=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def do_GET(self):
        path = urlsplit(self.path).path
        found = re.fullmatch(r"/v2/(.+)/(blobs|manifests|referrers)/([^/]+)", path)
        if not found:
            self._answer(200 if path == "/v2/" else 404)
        elif found[2] == "referrers":
            self._answer(200, self._referrers(found[3]), Content_Type=_INDEX)
        elif found[3] in self.server.kept:
            kind, content = self.server.kept[found[3]]
            self._answer(200, content, Content_Type=kind,
                         Docker_Content_Digest=f"sha256:{hashlib.sha256(content).hexdigest()}")
        else:
            self._answer(404)

    do_HEAD = do_GET

    def do_POST(self):
        self._body()
        self._answer(202, Location=f"{urlsplit(self.path).path.rstrip('/')}/{next(self.server.numbers)}")

    def do_PATCH(self):
        self.server.uploads[self.path] = self.server.uploads.get(self.path, b"") + self._body()
        self._answer(202, Location=self.path)

    def do_PUT(self):
        path, content = urlsplit(self.path), self._body()
        if "/manifests/" in path.path:
            kind, names = self.headers["Content-Type"], {path.path.rpartition("/")[2]}
        else:
            kind, names = "application/octet-stream", set()
            content = self.server.uploads.pop(path.path, b"") + content
            if parse_qs(path.query)["digest"] != [f"sha256:{hashlib.sha256(content).hexdigest()}"]:
                self._answer(400)
                return
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.server.kept.update(dict.fromkeys(names | {digest}, (kind, content)))
        self._answer(201, Location=path.path, Docker_Content_Digest=digest)

    def _referrers(self, subject):
        manifests = []
        for digest, (kind, content) in list(self.server.kept.items()):
            if digest.startswith("sha256:") and kind.endswith("manifest.v1+json"):
                manifest = json.loads(content)
                if manifest.get("subject", {}).get("digest") == subject:
                    manifests.append({"mediaType": kind, "digest": digest, "size": len(content),
                                      "artifactType": manifest.get("artifactType", ""),
                                      "annotations": manifest.get("annotations", {})})
        return json.dumps({"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests}).encode()


@contextlib.contextmanager
def serving():
    """Serves while the context lasts. Yields host and port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.kept, server.uploads, server.numbers = {}, {}, iter(range(1 << 20))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
