"""Runs a small webhook and a small scheduler extender in one process.

    python3 stand_in.py ADDRESS CERTIFICATE KEY [PORT]

POST /mutate (HTTPS, port 8443 by default) labels every pod "seen: yes". It also sets a cap on pods that share, as a
policy engine may. POST /filter (HTTP, port 8080) leaves the last node only. GET answers that both are ready.
"""

import base64
import http.server
import json
import ssl
import sys
import threading


class Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(mutated(asked) if self.path.startswith("/mutate") else filtered(asked))

    def do_GET(self):
        self.answer("ready")

    def answer(self, what):
        answer = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def mutated(review):
    metadata = review["request"]["object"]["metadata"]
    changed = {"labels": {**metadata.get("labels", {}), "seen": "yes"}}
    if "crossover.dev/share" in metadata.get("annotations", {}):
        changed["annotations"] = {**metadata["annotations"], "crossover.dev/max-slowdown": "2"}
    patch = json.dumps([{"op": "add", "path": f"/metadata/{key}", "value": value}
                        for key, value in changed.items()]).encode()
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": {
        "uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch",
        "patch": base64.b64encode(patch).decode()}}


def filtered(arguments):
    names = sorted(node["metadata"]["name"] for node in arguments["Nodes"]["items"])
    return {"Nodes": {"items": [n for n in arguments["Nodes"]["items"] if n["metadata"]["name"] == names[-1]]},
            "FailedNodes": {name: "not the last" for name in names[:-1]}}


def main(address, certificate, key, port="8443"):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    webhook = http.server.ThreadingHTTPServer((address, int(port)), Answers)
    webhook.socket = context.wrap_socket(webhook.socket, server_side=True)
    threading.Thread(target=webhook.serve_forever, daemon=True).start()
    http.server.ThreadingHTTPServer((address, 8080), Answers).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
