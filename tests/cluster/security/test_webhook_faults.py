"""Tests a webhook that is down, whose certificate or clock is wrong, that gets malformed requests, or far too many.
Nothing else in the cluster suffers, and a pod that needs the webhook gets a clear answer.
"""

import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from testing.cluster.pods import SLOT
from testing.cluster.rig import gone
from testing.cluster.rig.versions import TREE
from testing.processes import Failed
from tests.cluster.security.webhook_case import Load, NAMESPACE, PATIENCE_S, PORT, SYSTEM, WebhookCase, pod_that_says
from tests.cluster.security.webhook_flood import Connection, Flood, request, review
from tests.process.demo.leftovers import until

_DAY_S = 86400
_SAYS = {"share": "true"}
_STAND_IN = Path(__file__).parents[1] / "rig" / "stand_in.py"
_ALERTS = TREE / "charts/crossover/files/alerts.yaml"
_IDLE = 100  # idle connections
_ONCE_S = 3


class WebhookFaults(WebhookCase):
    flood = None  # the Flood of the test of a thousand requests a second

    def others_do_not_suffer(self):
        """Asserts that pods without our annotations can be created, changed and deleted, and that one of ours can be
        changed and deleted."""
        self.create(pod_that_says("plain", {}))
        for name, words in (("plain", "note=x"), ("ours", "crossover.dev/mode=off")):
            self.cluster.kubectl("annotate", "pod", name, words, "--namespace", NAMESPACE)
            self.cluster.kubectl("delete", "pod", name, "--namespace", NAMESPACE, "--wait=false")
            self.cluster.wait_for("pod", name, gone, NAMESPACE)

    def is_told(self, words):
        """Asserts that the user who creates a pod of ours soon gets an answer with these words."""
        def told():
            done = self.cluster.kubectl("create", "--namespace", NAMESPACE, "--dry-run=server", "--filename", "-",
                                        input=json.dumps(pod_that_says("told", _SAYS)), check=False)
            said.append(done.stderr or done.stdout)
            return words in said[-1]
        said = []
        self.assertTrue(until(told, PATIENCE_S), said[-1:])

    def setUp(self):
        self.create(pod_that_says("ours", _SAYS))

    def start_anew(self):
        self.cluster.processes.stop(["admission", "stand-in"])
        self.start_webhook()

    def not_reached(self):
        """Returns how many pods API servers have refused because the webhook did not answer. It reads the metric of the
        alert."""
        selector = re.search(r"(apiserver_\w+)\{([^}]*)\}", _ALERTS.read_text(encoding="utf-8"))
        labels = [label.strip() for label in selector[2].split(",")]
        self.assertEqual(len(labels), 2)
        lines = self.cluster.kubectl("get", "--raw", "/metrics").splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(f"{selector[1]}{{")
                   and all(label in line for label in labels))

    def test_it_is_down(self):
        before = self.not_reached()
        self.create(pod_that_says("reached", _SAYS))
        self.assertEqual(self.not_reached(), before, "the control")
        self.stop_webhook()
        self.addCleanup(self.start_anew)
        self.is_told('failed calling webhook "pods.crossover.dev"')
        self.others_do_not_suffer()
        slots = pod_that_says("slots", {})
        slots["spec"]["containers"][0]["resources"] = {"limits": {SLOT: "1"}}
        with self.assertRaisesRegex(Failed, "failed calling webhook"):
            self.create(slots)
        self.assertGreater(self.not_reached(), before, "alert CrossoverWebhookNotReached")

    def test_its_certificate_has_expired(self):
        self.stop_webhook()
        self.addCleanup(self.start_anew)
        expired = self.signed_by_its_authority("expired", shift_s=-90 * _DAY_S)
        self.cluster.start("stand-in", [sys.executable, "-B", str(_STAND_IN), self.cluster.address,
                                        *map(str, expired), str(PORT)])
        self.is_told("x509: certificate has expired")
        self.others_do_not_suffer()
        self.cluster.processes.stop(["stand-in"])
        # Our webhook finds that its certificate has expired, and makes another.
        self.patch_secret({"tls.crt": _encoded(expired[0]), "tls.key": _encoded(expired[1])})
        self.start_webhook()
        self.assertNotEqual(self.secret()["tls.crt"], _encoded(expired[0]))

    def signed_by_its_authority(self, name, shift_s):
        """Makes a certificate of 30 days for a server with the webhook's name, signed by the webhook's authority. The
        clock is shifted by `shift_s`. Returns the paths of certificate and key."""
        top = self.cluster.directory
        files = {part: top / f"{name}.{part}" for part in ("crt", "key", "ca.crt", "ca.key")}
        for part in ("ca.crt", "ca.key"):
            files[part].write_bytes(base64.b64decode(self.secret()[part]))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "30", "-subj", "/CN=webhook", "-CA", files["ca.crt"], "-CAkey", files["ca.key"], "-keyout", files["key"],
             "-out", files["crt"], "-addext", "basicConstraints=critical,CA:FALSE", "-addext",
             "extendedKeyUsage=serverAuth", "-addext", "subjectAltName=DNS:crossover-extender.crossover-system.svc"],
            check=True, capture_output=True, env=os.environ | _clock(shift_s))
        return files["crt"], files["key"]

    def test_its_authority_is_replaced_under_load(self):
        certificates = self.cluster.setup.certificates
        before = self.secret()["ca.crt"]
        load = Load(self.cluster, self.dry_run)
        self.addCleanup(load.end)
        follows = {"next-ca.crt": _encoded(certificates.authority), "next-ca.key": _encoded(certificates.key("ca"))}
        self.assertNotEqual(follows["next-ca.crt"], before)
        self.patch_secret(follows)

        def replaced():
            return self.bundle() == follows["next-ca.crt"] and not self.secret().get("previous-ca.crt")
        self.assertTrue(load.goes_on())
        self.assertTrue(until(replaced, PATIENCE_S), self.said()[-2000:])
        self.assertEqual(self.secret()["ca.crt"], follows["next-ca.crt"])
        self.assertTrue(load.goes_on())
        self.assertEqual(load.failures, [])
        # The control replaces the bundle by another certificate. API servers then do not trust the webhook, which
        # repairs the bundle.
        stranger, _ = certificates.serving("stranger", ["stranger"])
        self.cluster.kubectl("patch", "mutatingwebhookconfiguration", "crossover-admission", "--type", "json",
                             "--patch", json.dumps([{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle",
                                                     "value": _encoded(stranger)}]))
        self.assertTrue(until(lambda: load.failures, PATIENCE_S), "a certificate without an issuer is trusted")
        self.assertIn("x509", load.failures[0])
        self.assertTrue(until(replaced, PATIENCE_S), self.said()[-2000:])
        self.assertTrue(load.goes_on())

    def bundle(self):
        configuration = self.cluster.get("mutatingwebhookconfiguration", "crossover-admission")
        return configuration["webhooks"][0]["clientConfig"]["caBundle"]

    def test_its_clock_is_ten_minutes_ahead(self):
        """Its certificates are valid for all others at once."""
        self.addCleanup(self.start_anew)
        self.restart_with_clock(600)
        self.await_answers()

    def test_its_clock_is_weeks_ahead(self):
        """Its certificate is not valid yet for all others. It is replaced once the clock is right."""
        self.addCleanup(self.start_anew)
        self.restart_with_clock(20 * _DAY_S)
        self.is_told("x509: certificate has expired or is not yet valid")
        self.others_do_not_suffer()
        self.restart_with_clock(0)
        self.await_answers()

    def restart_with_clock(self, shift_s):
        """Starts the webhook with its clock shifted and no certificate from before."""
        self.stop_webhook()
        self.cluster.kubectl("delete", "secret", "crossover-admission", "--namespace", SYSTEM)
        self.launch_webhook(_clock(shift_s))

    def test_huge_pods(self):
        """The largest pods that an API server accepts are rewritten as all others, or the server refuses them in its
        own words."""
        annotated = pod_that_says("annotated", _SAYS)
        annotated["metadata"]["annotations"]["example.org/note"] = "x" * 250_000
        many = pod_that_says("many", _SAYS)
        more = [dict(many["spec"]["containers"][0], name=f"c{number}", resources={}) for number in range(500)]
        many["spec"]["containers"] += more
        many["spec"]["containers"][0]["env"] = [{"name": f"E{number}", "value": "v" * 100} for number in range(5000)]
        for pod in (annotated, many):
            made = self.create(pod)
            self.assertEqual(made["metadata"]["labels"], {"crossover.dev/managed": "true"})
        too_large = pod_that_says("too-large", _SAYS)
        too_large["spec"]["containers"][0]["env"] = [{"name": "E", "value": "v" * (4 << 20)}]
        with self.assertRaisesRegex(Failed, "too large|request is too large"):
            self.create(too_large)
        self.others_do_not_suffer()

    def test_hostile_requests(self):
        """Each request is answered, none with a patch, and other users do not wait."""
        good = json.dumps(review(pod_that_says("hostile", _SAYS)))
        deep = '{"a":' * 100_000 + "1" + "}" * 100_000
        bodies = [b"", b"{", b"null", b"[]", b'"text"', b"\x00" * 1000, b"\xff\xfe" * 1000, b"[" * 1_000_000,
                  deep.encode(), good.replace('"request"', '"requests"').encode(), good.encode()[:-1],
                  good.encode() + b"x", good.replace('"object": {', '"object": [{').encode(),
                  *(json.dumps(_with_object(thing)).encode() for thing in
                    (None, 7, [], {}, {"spec": None}, {"metadata": 1, "spec": []}, {"spec": {"containers": {}}},
                     {"metadata": {"annotations": {"crossover.dev/share": ["true"]}}, "spec": {"containers": [1]}}))]
        load = Load(self.cluster, self.dry_run)
        self.addCleanup(load.end)
        for body in bodies:
            with self.subTest(body[:60]), contextlib.closing(Connection(self.cluster)) as connection:
                status, said = connection.ask(body)
                self.assertIn(status, (200, 400), said[:200])
                self.assertNotIn(b"patch", said)
        for head, status in (("PUT /admit/pods HTTP/1.1\r\nContent-Length: 0", 405),
                             ("GET /../../etc/passwd HTTP/1.1", 404), ("GET /admit/pods HTTP/1.1", 405),
                             # These announce a body and do not send it, so they are not answered.
                             ("POST /admit/pods HTTP/1.1\r\nContent-Length: -1", None),
                             ("POST /admit/pods HTTP/1.1\r\nContent-Length: 99999999999", None),
                             ("POST /admit/pods HTTP/1.1\r\nTransfer-Encoding: chunked", None)):
            with self.subTest(head), contextlib.closing(Connection(self.cluster)) as connection:
                connection.send(f"{head}\r\nHost: webhook\r\n\r\n".encode())
                if status:
                    self.assertEqual(connection.answer()[0], status)
        self.assertTrue(load.goes_on())
        self.assertEqual(load.failures, [])
        self.others_do_not_suffer()

    def test_connections_that_say_nothing(self):
        """Many connections stay open for as long as they like and send nothing, or half of a request."""
        with contextlib.ExitStack() as stack:
            for number in range(_IDLE):
                connection = stack.enter_context(contextlib.closing(Connection(self.cluster)))
                connection.send(request(b"{}" * 1000)[:number])
            load = Load(self.cluster, self.dry_run)
            self.addCleanup(load.end)
            self.assertTrue(load.goes_on())
            self.assertEqual(load.failures, [])
            self.others_do_not_suffer()

    def test_a_thousand_requests_a_second(self):
        load = Load(self.cluster, self.dry_run)
        self.addCleanup(load.end)
        flood = type(self).flood = Flood(self.cluster, 1000, _ONCE_S)
        flood.run()
        self.assertEqual(flood.failures, [])
        self.assertEqual(len(flood.took_s), 1000 * _ONCE_S)
        self.assertTrue(load.goes_on())
        self.assertEqual(load.failures, [])
        self.others_do_not_suffer()


def _clock(shift_s):
    """Returns an environment in which the clock is so many seconds ahead."""
    library = Path(os.environ["BUILD"]) / "tests" / "cluster" / "libshifted_clock.so"
    return {"LD_PRELOAD": str(library), "CLOCK_SHIFT_S": str(shift_s)}


def _with_object(thing):
    whole = review(pod_that_says("x", _SAYS))
    whole["request"]["object"] = thing
    return whole


def _encoded(path):
    return base64.b64encode(path.read_bytes()).decode()


if __name__ == "__main__":
    unittest.main()
