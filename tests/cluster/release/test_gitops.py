"""Tests on a real API server what tools do that render the chart and apply it, again and again: they find no difference
between the chart and the cluster, also after the extender has written its certificate."""

import json
import os
import time
import unittest
from pathlib import Path

import yaml

from testing.chart import INSTALLATIONS, render
from testing.cluster.control import Control
from testing.cluster.rig import Cluster, true
from testing.cluster.rig.versions import definitions
from testing.commands import Build

_NAMESPACE = "crossover-system"
_CONFIGURATION = "crossover-admission"
_WRITTEN_WITHIN_S = 60.0
_BY_SERVER, _BY_CLIENT = ("--server-side", "--field-manager=gitops"), ()


def changed_fields(wanted, live, path=""):
    """Yields the path of each field that the API server or a controller keeps in another form than it was written.
    Entries of lists that have names are compared by these."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        for key, value in wanted.items():
            if value not in ({}, [], None):  # the API server leaves out what is empty
                yield from changed_fields(value, live.get(key), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        named = {each["name"]: each for each in live if isinstance(each, dict) and "name" in each}
        for number, value in enumerate(wanted):
            name = value.get("name") if isinstance(value, dict) else None
            yield from changed_fields(value, named.get(name, live[number]), f"{path}[{number}]")
    elif wanted != live:
        yield f"{path}: {wanted!r} is {live!r}"


class GitOps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(nodes=1)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.version = cls.cluster.setup.programs.kube_version
        cls.cluster.kubectl("apply", "--server-side", "--filename", str(definitions()))
        for item in cls.cluster.get("customresourcedefinitions"):
            cls.cluster.wait_for("customresourcedefinition", item["metadata"]["name"], true("Established"))
        cls.cluster.namespace(_NAMESPACE, enforce="privileged")

    def rendered(self, name):
        return render(*INSTALLATIONS[name], kube_version=self.version, flags=("--no-hooks",))

    def apply(self, text, how):
        # One item is in the scheduler's namespace, so that all must name theirs.
        return self.cluster.kubectl("apply", *how, "--filename", "-", input=text)

    def difference(self, text, how):
        """Returns what `kubectl diff` says, which is nothing where all is as it was applied."""
        done = self.cluster.kubectl("diff", *how, "--filename", "-", input=text, check=False)
        self.assertLess(done.returncode, 2, done.stderr)
        self.assertEqual(done.returncode == 0, not done.stdout)
        return done.stdout

    def test_the_chart_is_applied_twice_and_nothing_differs(self):
        """The second comparison is that of a tool which does not ask the API server what it would make of the text."""
        for name, how in [*((name, _BY_SERVER) for name in INSTALLATIONS), ("defaults", _BY_CLIENT)]:
            with self.subTest(name=name, how=how):
                text = self.rendered(name)
                items = [item for item in yaml.safe_load_all(text) if item]
                self.addCleanup(self.delete, text)
                for _ in range(2):
                    self.apply(text, how)
                    self.assertEqual(self.difference(text, how), "")
                self.assertEqual(list(self.changed(items, text)), [])
                other = text.replace("app.kubernetes.io/part-of: crossover", "app.kubernetes.io/part-of: another", 1)
                self.assertIn("another", self.difference(other, how), "the control")
                self.delete(text)

    def changed(self, items, text):
        live = {(each["kind"], each["metadata"]["name"]): each
                for each in json.loads(self.cluster.kubectl("get", "--output", "json",
                                                            "--filename", "-", input=text))["items"]}
        for item in items:
            of = item["kind"], item["metadata"]["name"]
            yield from changed_fields(item, live[of], " ".join(of))

    def test_a_field_in_another_form_is_found(self):
        """This is the control."""
        written = {"cpu": "1000m", "none": [], "list": [{"name": "x", "b": 1}, {"name": "y", "b": 2}]}
        kept = {"cpu": "1", "list": [{"name": "y", "b": 2}, {"name": "x", "b": 1}], "more": True}
        self.assertEqual(list(changed_fields(written, kept)), [".cpu: '1000m' is '1'"])

    def delete(self, text):
        self.cluster.kubectl("delete", "--ignore-not-found", "--wait", "--filename", "-",
                             input=text)

    def test_the_extenders_certificate_is_no_difference(self):
        text = self.rendered("defaults")
        self.addCleanup(self.delete, text)
        for how in (_BY_SERVER, _BY_CLIENT):
            self.apply(text, how)
        control = Control(self.cluster, self.build, settings={"lease": "off"})
        control.renew_token()
        control.start_extender(0)
        self.addCleanup(self.cluster.processes.stop, [control.replicas[0].extender])
        control.await_ready()
        end = time.monotonic() + _WRITTEN_WITHIN_S
        while not self.bundles():
            self.assertLess(time.monotonic(), end, "no certificate is written")
            time.sleep(0.2)
        for how in (_BY_CLIENT, _BY_SERVER):
            self.assertEqual(self.difference(text, how), "")
            self.apply(text, how)
            self.assertTrue(self.bundles(), "the certificate stays")

    def bundles(self):
        configuration = self.cluster.get("mutatingwebhookconfiguration", _CONFIGURATION)
        bundles = [webhook["clientConfig"].get("caBundle") for webhook in configuration["webhooks"]]
        return all(bundles) and bundles


if __name__ == "__main__":
    unittest.main()
