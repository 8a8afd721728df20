"""Tests values: a mistyped value is refused by its name, and a missing one with what to do."""

import copy
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from testing import rendering
from testing.chart import CHART, INSTALLATIONS, template

_SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
_VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
_FREE = {"global", "affinity"}  # objects that Kubernetes or a parent chart defines


def sections(schema, path=()):
    """Yields (path, schema) of each object in the schema."""
    if schema.get("type") == "object":
        yield path, schema
    for key, inner in schema.get("properties", {}).items():
        yield from sections(inner, (*path, key))


class Values(unittest.TestCase):
    def refused(self, values, *words):
        done = template(*values)
        self.assertNotEqual(done.returncode, 0, values)
        for word in words:
            self.assertIn(word, done.stderr)

    def taken(self, values):
        done = template(*values)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_lint(self):
        for name, values in INSTALLATIONS.items():
            with self.subTest(name):
                words = [rendering.helm(), "lint", "--strict", str(CHART)]
                for value in [*rendering.images(), *values]:
                    words += ["--set", value]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertNotIn("[WARNING]", done.stdout)

    def test_every_section_refuses_what_it_does_not_know(self):
        for path, schema in sections(_SCHEMA):
            if path and path[-1] in _FREE or isinstance(schema.get("additionalProperties"), dict):
                continue
            self.assertIs(schema.get("additionalProperties"), False, ".".join(path))

    def test_mistyped_values_are_named(self):
        self.refused(["webhook.certificats=self"], "certificats", "/webhook")
        self.refused(["deviceplugin.config.node.slots_per_gpus=3"], "slots_per_gpus", "/deviceplugin/config/node")
        self.refused(["deviceplugin.config.mode=on"], "/deviceplugin/config/mode", "'enforce', 'observe', 'off'")
        self.refused(["deviceplugin.config.configurations.a100.node.host_directory=/x"], "host_directory", "a100")
        self.refused(["extender.config.gangs.deadline=1"], "deadline", "/extender/config/gangs")
        self.refused(["extender.replicas=0"], "/extender/replicas", "minimum")
        self.refused(["monitoring.podMonitor.interval=fast"], "/monitoring/podMonitor/interval")
        self.refused(["webhook.certificates=none"], "'self', 'cert-manager', 'secret'")
        self.refused(["deviceplugin.maxUnavailable=0%"], "/deviceplugin/maxUnavailable")
        self.refused(["deviceplugin.maxUnavailable=101%"], "/deviceplugin/maxUnavailable")
        self.refused(["deviceplugin.kubeletDirectory=/"], "/deviceplugin/kubeletDirectory")
        for folder in ("/", "var/lib/crossover", ""):
            self.refused([f"deviceplugin.hostDirectory={folder}"], "/deviceplugin/hostDirectory")
        self.refused(["driver.root=/"], "/driver/root")
        self.refused(["extender.podLabels.app\\.kubernetes\\.io/name=x"], "/extender/podLabels")
        for url in ("operations.md", "https://git.example/operations.md#alerts"):
            self.refused([f"monitoring.rules.runbookUrl={url}"], "/monitoring/rules/runbookUrl")
        self.refused(["arch=x86_64"], "/arch", "'', 'amd64', 'arm64'")
        self.refused(["extender.config.placement.min_gain=1.2"], "/extender/config/placement/min_gain", "string")

    def test_a_missing_image_is_said(self):
        for key, program in (("deviceplugin", "crossover-deviceplugin"), ("extender", "crossover-extender")):
            other = "extender" if key == "deviceplugin" else "deviceplugin"
            done = template(f"{other}.image.repository=registry.example/x", with_images=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{key}.image.repository is not set", done.stderr)
            self.assertIn(program, done.stderr)
            self.assertIn("docs/install.md says how to build it", done.stderr)

    def test_what_does_not_go_together_is_said(self):
        self.refused(["webhook.certificates=secret"], "webhook.secretName is not set")
        self.refused(["webhook.certificates=secret", "webhook.secretName=a"], "webhook.caBundle is not set")
        self.refused(["driver.root=/x", "driver.runtimeClassName=nvidia"], "driver.root and driver.runtimeClassName")
        issuer = ["webhook.certificates=cert-manager", "webhook.issuer.kind=ClusterIssuer"]
        self.refused(issuer, "webhook.issuer.name: expected the name of a ClusterIssuer, ")
        self.taken([*issuer, "webhook.issuer.name=mine"])
        self.refused(["deviceplugin.config.configurations.-x.mode=observe"],
                     "deviceplugin.config.configurations: expected names of 1 to 63 letters", ", got -x")

    def test_what_clears_a_value_is_taken(self):
        """An empty value falls back to a default where there is one, and null does elsewhere."""
        self.taken(["extender.image.tag=", "deviceplugin.image.tag=", "driver.root=", "driver.runtimeClassName=",
                    "deviceplugin.maxUnavailable=10%", "deviceplugin.config.profiles=",
                    "deviceplugin.config.node.sharing=null", "extender.config.log_level=null"])

    def test_device_files_come_with_a_driver(self):
        nodes = "deviceplugin.config.node.devices=device-nodes"
        self.refused([nodes], "deviceplugin.config.node.devices: expected cdi or environment, or ",
                     ", got device-nodes alone")
        self.refused([nodes, "driver.runtimeClassName=nvidia"], ", got device-nodes alone")
        self.taken([nodes, "driver.root=/x"])
        named = "deviceplugin.config.configurations.old.node"
        self.refused([f"{named}.devices=device-nodes"], f"{named}.devices: expected cdi or environment, or ",
                     ", got device-nodes alone", "node.driver_root does, too")
        self.taken([f"{named}.devices=device-nodes", f"{named}.driver_root=/x"])
        self.taken([f"{named}.devices=device-nodes", "driver.root=/x"])
        self.taken([f"{named}.devices=environment"])

    def test_daemons_can_write_where_they_have_to(self):
        mount = [f"deviceplugin.extraVolumeMounts[0].{each}" for each in ("name=logs", "mountPath=/logs/")]
        for key in ("trace_file", "profiles"):
            value = f"deviceplugin.config.{key}"
            for path in ("/var/log/x", "/var/lib/crossovers/x", "/run/crossover/../x", "/logs/x"):
                self.refused([f"{value}={path}"], f"{value}: expected a path below one of ", f", got {path}: ",
                             "/var/lib/crossover, /run/crossover", "deviceplugin.extraVolumeMounts")
            self.refused([f"{value}=/logs/x", *mount, "deviceplugin.extraVolumeMounts[0].readOnly=true"], "/logs/x")
            for path in ("/var/lib/crossover/x", "/run/crossover/a/x", "/logs/x"):
                self.taken([f"{value}={path}", *mount])
        moved = ["deviceplugin.hostDirectory=/opt/crossover"]
        self.refused(["deviceplugin.config.profiles=/var/lib/crossover/x", *moved], "/opt/crossover, /run/crossover")
        self.taken(["deviceplugin.config.profiles=/opt/crossover/x", *moved])
        self.taken(["deviceplugin.config.profiles=off"])
        self.taken(["deviceplugin.config.trace_file=/dev/stdout"])

    def test_older_clusters_are_refused(self):
        done = rendering.template(rendering.images(), "1.30.9")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(">=1.31.0", done.stderr)

    def test_values_and_schema_name_the_same(self):
        """Configuration of the programs is left out: values.yaml has only what is usually changed."""
        for path, schema in sections(_SCHEMA):
            if "config" in path or "properties" not in schema or "resources" in path:
                continue
            values = _VALUES
            for key in path:
                values = values[key]
            self.assertEqual(set(values), set(schema["properties"]) - {"global"}, ".".join(path))

    def test_each_value_has_a_comment(self):
        """The comment is its own, or that of the section or of the line before it."""
        lines = (CHART / "values.yaml").read_text(encoding="utf-8").splitlines()
        tops = [number for number, line in enumerate(lines) if line and line[0] not in " #"]
        for number in tops:
            text = "\n".join(lines[max(0, number - 4):number + 3])
            self.assertIn("#", text, lines[number])

    def test_the_schema_refuses(self):
        """In the control, without the schema, a mistyped value passes."""
        with tempfile.TemporaryDirectory() as folder:
            chart = Path(folder) / "crossover"
            subprocess.run(["cp", "-r", str(CHART), str(chart)], check=True)
            loose = copy.deepcopy(_SCHEMA)
            loose["properties"]["webhook"]["additionalProperties"] = True
            (chart / "values.schema.json").write_text(json.dumps(loose), encoding="utf-8")
            values = [*rendering.images(), "webhook.certificats=self"]
            self.assertEqual(rendering.template(values, chart=chart).returncode, 0)
            self.assertNotEqual(rendering.template(values).returncode, 0)


if __name__ == "__main__":
    unittest.main()
