"""Tests where the extender and its scheduler listen, and on which network."""

import unittest

import yaml

from testing.chart import INSTALLATIONS, find, objects, pod_templates, template

_HOSTS = "its nodes' network"  # the installation; all but two of its ports differ
_PORTS = {"defaults": {"verbs": 8480, "health": 8481, "metrics": 8482, "webhook": 8443, "scheduler": 10259},
          _HOSTS: {"verbs": 9480, "health": 8481, "metrics": 8482, "webhook": 9443, "scheduler": 10260}}


class Listening(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = {name: objects(*INSTALLATIONS[name]) for name in _PORTS}

    def config(self, name, component, key):
        return yaml.safe_load(find(self.made[name], "ConfigMap", f"crossover-{component}")["data"][key])

    def test_programs_listen_where_values_say(self):
        for name, ports in _PORTS.items():
            config = self.config(name, "extender", "extender.yaml")
            daemon = self.config(name, "deviceplugin", "node.yaml")
            self.assertEqual(daemon["metrics"], {"listen": "[::]:9465"})
            self.assertEqual(config["scheduler"], {"listen": f"127.0.0.1:{ports['verbs']}"})
            for key in ("health", "metrics", "webhook"):
                self.assertEqual(config[key]["listen"], f"[::]:{ports[key]}")
            pod = pod_templates(self.made[name])["crossover-extender"]
            self.assertEqual(pod["hostAliases"], [{"ip": "::", "hostnames": ["all-addresses"]}])
            scheduler = pod["containers"][1]["command"]
            self.assertEqual(scheduler[scheduler.index("--secure-port") + 1], str(ports["scheduler"]))

    def test_others_ask_there(self):
        for name, ports in _PORTS.items():
            pod = pod_templates(self.made[name])["crossover-extender"]
            named = {port["name"]: port["containerPort"] for each in pod["containers"] for port in each["ports"]}
            self.assertEqual(named | {"verbs": ports["verbs"]}, ports, "that of verbs is for no other")
            probes = {each[probe]["httpGet"]["port"] for each in pod["containers"]
                      for probe in ("livenessProbe", "readinessProbe") if probe in each}
            service = find(self.made[name], "Service", "crossover-extender")["spec"]["ports"]
            self.assertLessEqual(probes | {port["targetPort"] for port in service}, set(named))
            asked = {each["urlPrefix"] for each in self.config(name, "scheduler", "scheduler.yaml")["extenders"]}
            self.assertEqual(asked, {f"http://127.0.0.1:{ports['verbs']}"})

    def test_on_its_nodes_network_a_pod_makes_room_for_the_next(self):
        for name, surge, away, resolves in (("defaults", 1, 0, None), (_HOSTS, 0, 1, "ClusterFirstWithHostNet")):
            deployment = find(self.made[name], "Deployment", "crossover-extender")["spec"]
            self.assertEqual(deployment["strategy"]["rollingUpdate"], {"maxSurge": surge, "maxUnavailable": away})
            self.assertEqual(deployment["template"]["spec"].get("dnsPolicy"), resolves)

    def test_ports_that_cannot_be_had_are_refused(self):
        for values, words in (
                (["webhook.port=8482"], "extender.ports.metrics and webhook.port are both 8482"),
                (["scheduler.port=8480"], "extender.ports.verbs and scheduler.port are both 8480"),
                (["webhook.port=10250", "extender.hostNetwork=true"], "webhook.port=10250, and extender.hostNetwork"),
                (["webhook.port=443"], "/webhook/port"),
                (["extender.ports.health=70000"], "/extender/ports/health")):
            done = template(*values)
            self.assertNotEqual(done.returncode, 0, values)
            self.assertIn(words, done.stderr)
        self.assertEqual(template("webhook.port=10250").returncode, 0, "the control")


if __name__ == "__main__":
    unittest.main()
