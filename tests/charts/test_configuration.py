"""Tests that the programs accept the configuration that the chart writes, and that the chart's schema permits what they
do."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from testing.chart import CHART, INSTALLATIONS, TREE, find, objects, refusal

_SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))["properties"]
# The chart sets these itself.
_DAEMON_FIXED = {"socket", "api", "metrics"}
_NODE_FIXED = {"name", "namespace", "mps_directory", "driver_root", "host_directory", "kubelet_directory", "api_server"}
_EXTENDER_FIXED = {"api_server", "namespace", "host", "lease", "scheduler", "health", "metrics"}
_UUID = "GPU-00000000-0000-0000-0000-000000000000"
# Neither the chart nor the program accepts the first of each pair. Both accept the second.
_OF_THE_DAEMON = (
    ({"gpus": []}, {"gpus": [_UUID]}),
    ({"gpus": ["GPU-1"]}, {"gpus": "all"}),
    ({"gpus": [_UUID.replace("0", "A")]}, {"gpus": [_UUID.replace("0", "a")]}),
    ({"profiles": "/"}, {"profiles": "/var/lib/crossover/p"}),
    ({"trace_file": "/"}, {"trace_file": "/run/crossover/t"}),
    ({"node": {"cgroup_root": ""}}, {"node": {"cgroup_root": "kubelet"}}),
    ({"node": {"cgroup_root": "/kubelet"}}, {"node": {"cgroup_root": "kubelet"}}),
    ({"node": {"cgroup_root": "a b"}}, {"node": {"cgroup_root": "a/b"}}),
    ({"node": {"cgroup_root": "a/../b"}}, {"node": {"cgroup_root": "a..b"}}),
    ({"node": {"mps_control": ""}}, {"node": {"mps_control": "nvidia-cuda-mps-control"}}),
    ({"node": {"library": "/"}}, {"node": {"library": "/l"}}),
    ({"node": {"gpu_memory": "119"}}, {"node": {"gpu_memory": "119Gi"}}),
    ({"node": {"gpu_memory": "119 GiB"}}, {"node": {"gpu_memory": "1.5T"}}),
    ({"node": {"link_gbps": -1}}, {"node": {"link_gbps": 0}}),
    ({"node": {"link_gbps": 100001}}, {"node": {"link_gbps": 100000}}),
    ({"configurations": {"-a": {"mode": "off"}}}, {"configurations": {"a": {"mode": "off"}}}),
    ({"configurations": {"a" * 64: {"mode": "off"}}}, {"configurations": {"a" * 63: {"mode": "off"}}}),
    ({"configurations": {"a b": {"mode": "off"}}}, {"configurations": {"a.B-c_1": {"mode": "off"}}}),
    ({"configurations": {"a": {"gpus": []}}}, {"configurations": {"a": {"gpus": [_UUID]}}}),
    ({"configurations": {"a": {"node": {"library": "/"}}}}, {"configurations": {"a": {"node": {"library": "/l"}}}}),
    ({"configurations": {"a": {"node": {"driver_root": "/"}}}},
     {"configurations": {"a": {"node": {"driver_root": "/d"}}}}),
)
_OF_THE_EXTENDER = (
    ({"webhook": {"runtime_class": ""}}, {"webhook": {"runtime_class": "nvidia"}}),
    ({"webhook": {"autoscalers": "stop"}}, {"webhook": {"autoscalers": "leave"}}),
    ({"webhook": {"shrink": ["fp8"]}}, {"webhook": {"shrink": ["off", "advise", "bf16", "q8", "adaptive", "auto"]}}),
    ({"webhook": {"shrink": "advise"}}, {"webhook": {"shrink": []}}),
    ({"webhook": {"runtime_class": "a" * 254}}, {"webhook": {"runtime_class": "a" * 253}}),
    ({"placement": {"namespace_groups": [["a", ""]]}}, {"placement": {"namespace_groups": [["a"], []]}}),
    ({"gangs": {"topology": [""]}}, {"gangs": {"topology": []}}),
    ({"gangs": {"gpu_speeds": {"A100": 0}}}, {"gangs": {"gpu_speeds": {"A100": 0.5}}}),
)


def live_keys(name):
    """Returns the keys that LiveKeys() of a source of deviceplugin/config reads."""
    source = (TREE / f"deviceplugin/config/{name}.cc").read_text(encoding="utf-8")
    body = re.search(r"^yaml::Handlers LiveKeys\(.*?^\}", source, re.MULTILINE | re.DOTALL).group()
    # The words that a key permits look like keys. A handler begins with a name of these, or is a lambda.
    return set(re.findall(r'\{"([a-z_]+)",\s*(?:\[|Number|Memory|Path|Text|yaml::)', body))


def check(program, config):
    """Runs a program's check of a configuration. Returns the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.yaml"
        file.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
        return subprocess.run([os.path.join(os.environ["BUILD"], "bin", program), "--check", "--config", str(file)],
                              env={"NODE_NAME": "n", "POD_NAMESPACE": "crossover-system",
                                   "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"},
                              capture_output=True, text=True, check=False)


def example(schema):
    """Returns a value that the schema permits, with every key."""
    if "anyOf" in schema:
        return example(schema["anyOf"][-1])
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {key: example(inner) for key, inner in schema.get("properties", {}).items()}
    if schema["type"] == "array":
        return [example(schema["items"])]
    if schema["type"] in ("integer", "number"):
        return schema["minimum"]
    pattern = schema.get("pattern", "")
    if pattern.endswith("|Ti)$"):
        return "119Gi"
    return {"^/.": "/some/path", "^[^/]+/[^/]+$": "nvidia.com/gpu"}.get(pattern, _UUID if "GPU" in pattern else "word")


class Configuration(unittest.TestCase):
    def test_the_node_daemon_takes_what_the_chart_writes(self):
        for name, values in INSTALLATIONS.items():
            config = find(objects(*values), "ConfigMap", "crossover-deviceplugin")["data"]["node.yaml"]
            done = check("crossover-deviceplugin", config)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
        self.assertNotEqual(check("crossover-deviceplugin", config + "\nslot: 1\n").returncode, 0, "the control")

    def test_the_extender_takes_what_the_chart_writes(self):
        # In a pod there are a token and an authority to read.
        reachable = {"api_server": {"server": "https://10.0.0.1:443", "ca_file": "/ca", "token_file": "/token"}}
        for name, values in INSTALLATIONS.items():
            config = yaml.safe_load(find(objects(*values), "ConfigMap", "crossover-extender")["data"]["extender.yaml"])
            done = check("crossover-extender", config | reachable)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
        self.assertNotEqual(check("crossover-extender", config | reachable | {"gang": {}}).returncode, 0, "the control")

    def test_each_key_of_the_node_daemon_is_allowed(self):
        schema = _SCHEMA["deviceplugin"]["properties"]["config"]
        config = example(schema)
        config["configurations"] = {"one": example(schema["properties"]["configurations"]["additionalProperties"])}
        config["node"]["api_server"] = {"server": "https://10.0.0.1:443", "ca_file": "/ca", "token_file": "/token"}
        done = check("crossover-deviceplugin", config)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_key_of_the_extender_is_allowed(self):
        config = example(_SCHEMA["extender"]["properties"]["config"])
        config["api_server"] = {"server": "https://10.0.0.1:443", "ca_file": "/ca", "token_file": "/token"}
        done = check("crossover-extender", config)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_the_programs_refuse_the_chart_does_not_take(self):
        reachable = {"api_server": {"server": "https://10.0.0.1:443", "ca_file": "/ca", "token_file": "/token"}}
        for key, program, own, cases in (
                ("deviceplugin", "crossover-deviceplugin", lambda config: config, _OF_THE_DAEMON),
                ("extender", "crossover-extender", lambda config: config | reachable, _OF_THE_EXTENDER)):
            for wrong, right in cases:
                with self.subTest(program, wrong=wrong):
                    said = refusal({key: {"config": wrong}})
                    self.assertIn("config", said)
                    self.assertIn(next(iter(wrong)), said)
                    self.assertNotEqual(check(program, own(wrong)).returncode, 0)
                    self.assertEqual(refusal({key: {"config": right}}), "", "the control")
                    self.assertEqual(check(program, own(right)).stderr, "", "the control")

    def test_the_schema_has_every_key_of_the_example_files(self):
        """The example files are complete, by their own words. What is left out is set by the chart."""
        schema = _SCHEMA["deviceplugin"]["properties"]["config"]["properties"]
        text = "".join((TREE / f"deviceplugin/config/{name}.yaml").read_text(encoding="utf-8")
                       for name in ("standalone", "node"))
        # A key without a default is a comment, with a value and another comment. One such key has values below it.
        top = set(re.findall(r"^(?:# (?=[a-z_]+: \S+ +#|[a-z_]+:$))?([a-z_]+):", text, re.MULTILINE)) - _DAEMON_FIXED
        self.assertEqual(top, set(schema))
        node = text[text.index("\nnode:"):text.index("\n# configurations:")]
        keys = set(re.findall(r"^  (?:# )?([a-z_]+):", node, re.MULTILINE)) - _NODE_FIXED
        self.assertEqual(keys, set(schema["node"]["properties"]))

    def test_named_configurations_have_every_key_that_is_live_and_pages_name_the_others(self):
        schema = _SCHEMA["deviceplugin"]["properties"]["config"]["properties"]
        named = schema["configurations"]["additionalProperties"]["properties"]
        self.assertEqual(set(named) - {"node"}, live_keys("yaml_config"))
        self.assertEqual(set(named["node"]["properties"]), live_keys("node_yaml"))
        self.assertNotIn("transport", live_keys("yaml_config"), "the control")
        fixed = set(schema) - set(named) - {"configurations"}
        fixed |= {f"node.{key}" for key in set(schema["node"]["properties"]) - live_keys("node_yaml")}
        page = (TREE / "docs/operations.md").read_text(encoding="utf-8")
        listed = re.search(r"^These keys of `deviceplugin\.config` are \*\*not live\*\*: (.*?)\. ", page,
                           re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(set(re.findall(r"`([a-z_.]+)`", listed)), fixed)
        values = " ".join((CHART / "values.yaml").read_text(encoding="utf-8").replace("#", " ").split())
        listed = re.search(r"Changes are in force without a restart, except for (.*?)\. Changes", values).group(1)
        self.assertEqual(set(re.split(r", | and ", listed)), fixed)

    def test_the_schema_has_every_key_of_the_extender(self):
        source = (TREE / "extender/config/config.cc").read_text(encoding="utf-8")
        # The words that a key permits look like keys. What they stand for tells them apart.
        keys = set(re.findall(r'\{"([a-z_]+)",(?!\s*(?:placement::|logging::|true|false))', source)) - _EXTENDER_FIXED
        schema = _SCHEMA["extender"]["properties"]["config"]["properties"]
        named = set(schema) | {key for section in schema.values() for key in section.get("properties", {})}
        of_the_webhook = {"listen", "service", "configuration", "secret", "file", "certificate_file", "key_file",
                          "drain_s"}
        self.assertEqual(keys - {"listen", "server", "ca_file", "token_file"} - of_the_webhook, named)


if __name__ == "__main__":
    unittest.main()
