"""Tests the test cluster itself: what other tests rely on."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from testing.cluster.pods import restricted
from testing.cluster.rig import Cluster, gone, phase, servers, true, versions
from testing.cluster.services import mutating_webhook, service
from testing.processes import Failed
from tests.process.demo.leftovers import until

_SHELL = "crossover.test/shell:1"
_NAMESPACE = "rig"


class Rig(unittest.TestCase):
    """One cluster serves all of these tests."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.namespace(_NAMESPACE)
        cls.cluster.image_of(_SHELL, {path: path for path in ("/bin/sh", "/usr/bin/id", "/bin/cat", "/bin/sleep")})

    def create(self, pod, namespace=_NAMESPACE):
        self.cluster.kubectl("create", "--namespace", namespace, "--filename", "-", input=json.dumps(pod))

    def run_pod(self, pod):
        """Runs a pod, asserts that it succeeded, and returns the pod and its output."""
        name = pod["metadata"]["name"]
        self.create(pod)
        done = self.cluster.wait_for("pod", name, phase("Succeeded", "Failed"), _NAMESPACE)
        output = self.cluster.logs(name, _NAMESPACE)
        self.assertEqual(done["status"]["phase"], "Succeeded", output)
        return done, output

    def test_both_nodes_are_ready(self):
        nodes = self.cluster.get("nodes")
        self.assertEqual(sorted(node["metadata"]["name"] for node in nodes), ["node-1", "node-2"])
        self.assertTrue(all(true("Ready")(node) for node in nodes))

    def test_it_is_of_the_versions_that_were_asked_for(self):
        programs = self.cluster.setup.programs
        kubernetes = f"v{programs.kube_version}"
        for node in self.cluster.get("nodes"):
            info = node["status"]["nodeInfo"]
            self.assertEqual(info["kubeletVersion"], kubernetes)
            name, version = info["containerRuntimeVersion"].split("://")
            self.assertEqual(name, "containerd")
            self.assertTrue(versions.begins(version, programs.containerd_version), version)
        server = json.loads(self.cluster.kubectl("get", "--raw", "/version"))
        self.assertEqual(server["gitVersion"], kubernetes)

    def test_restricted_pods_run_on_each_node(self):
        look = "id -u; cat /proc/self/status; echo x 2> /dev/null > /x || echo read-only"
        for node in self.cluster.nodes:
            with self.subTest(node.name):
                pod, output = self.run_pod(restricted(f"on-{node.name}", _SHELL, ["/bin/sh", "-c", look], node.name))
                self.assertEqual(pod["spec"]["nodeName"], node.name)
                self.assertTrue(pod["status"]["podIP"].startswith(f"10.78.{node.number}."), pod["status"])
                self.assertEqual(output.splitlines()[0], "65532")
                self.assertRegex(output, r"CapBnd:\s+0000000000000000")
                self.assertRegex(output, r"NoNewPrivs:\s+1")
                self.assertRegex(output, r"Seccomp:\s+2")
                self.assertEqual(output.splitlines()[-1], "read-only")

    def test_other_pods_are_refused(self):
        pod = restricted("other", _SHELL, ["/usr/bin/id"])
        pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
        with self.assertRaisesRegex(Failed, "violates PodSecurity"):
            self.create(pod)

    def test_a_node_writes_its_own_objects_alone(self):
        kubectl = self.cluster.kubectl
        kubectl("annotate", "node", "node-1", "crossover.test/mine=yes", user="node-1")
        self.cluster.wait_for("lease", "node-2", bool, "kube-node-lease")
        for kind, path, words in (("node", "/api/v1/nodes/node-2", 'is not allowed to modify node "node-2"'),
                                  ("lease", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-2",
                                   'can only access node lease with the same name')):
            with self.subTest(kind), self.assertRaisesRegex(Failed, words):
                other = kubectl("get", "--raw", path)
                kubectl("replace", "--raw", path, "--filename", "-", input=other, user="node-1")
        self.assertNotIn("crossover.test/mine", self.cluster.get("node", "node-2")["metadata"]["annotations"])

    def test_a_pod_reaches_the_api_server_as_its_service_account(self):
        node, image = self.cluster.nodes[1], "crossover.test/kubectl:1"
        self.cluster.image_of(image, {"/bin/kubectl": self.cluster.setup.programs.path("kubectl")}, nodes=[node])
        _, output = self.run_pod(restricted("who", image, ["/bin/kubectl", "auth", "whoami", "-o", "json"], node.name))
        self.assertEqual(json.loads(output)["status"]["userInfo"]["username"],
                         f"system:serviceaccount:{_NAMESPACE}:default")

    def test_files_of_a_node_are_its_own(self):
        first, second = self.cluster.nodes
        for path in ("/var/lib/crossover", "/run/crossover", "/etc/cdi"):
            with self.subTest(path):
                subprocess.run(first.enter(["mkdir", "-p", f"{path}/probe"]), check=True)
                self.assertTrue(first.reach(f"{path}/probe").is_dir())
                self.assertFalse(second.reach(f"{path}/probe").exists())
                self.assertFalse(Path(f"{path}/probe").exists())
        for node in self.cluster.nodes:
            self.assertTrue(until(node.reach("/var/lib/kubelet/device-plugins/kubelet.sock").is_socket), node.name)

    def test_pods_outlast_their_kubelet(self):
        node = self.cluster.nodes[0]
        self.create(restricted("stays", _SHELL, ["/bin/sleep", "600"], node.name))
        before = self.cluster.wait_for("pod", "stays", true("Ready"), _NAMESPACE)
        node.stop_kubelet()
        last = _heartbeat(self.cluster.get("node", node.name))
        node.start_kubelet()
        self.cluster.wait_for("node", node.name, lambda now: _heartbeat(now) > last)
        after = self.cluster.wait_for("pod", "stays", true("Ready"), _NAMESPACE)
        self.assertEqual(_container(before), _container(after))
        self.cluster.kubectl("delete", "pod", "stays", "--namespace", _NAMESPACE, "--wait=false")
        self.cluster.wait_for("pod", "stays", gone, _NAMESPACE)

    def test_webhook_and_extender_are_asked(self):
        address = self.cluster.address
        certificates = self.cluster.setup.certificates
        hosts = [address, "stand-in.asked.svc"]
        self.cluster.start("stand-in", [sys.executable, "-B", str(Path(__file__).with_name("stand_in.py")), address,
                                        *map(str, certificates.serving("stand-in", hosts))])
        self.cluster.wait_for_servers(f"https://{address}:8443/", f"http://{address}:8080/")
        self.cluster.namespace("asked")
        self.cluster.apply(service("stand-in", "asked", address, 8443))
        self.cluster.apply(mutating_webhook("stand-in", "asked", certificates.authority_text()))
        self.cluster.control_plane.restart_scheduler([{"urlPrefix": f"http://{address}:8080", "filterVerb": "filter"}])
        self.addCleanup(self.cluster.control_plane.restart_scheduler)
        for name in ("first", "second"):
            self.create(restricted(name, _SHELL, ["/bin/sleep", "600"]), "asked")
            pod = self.cluster.wait_for("pod", name, phase("Running"), "asked")
            self.assertEqual(pod["spec"]["nodeName"], "node-2")
            self.assertEqual(pod["metadata"]["labels"], {"seen": "yes"})


class ServiceRouting(unittest.TestCase):
    def test_services_are_reached_from_everywhere(self):
        with Cluster(service_routing=True) as cluster:
            cluster.apply(service("again", "default", cluster.address, 443))
            address = cluster.get("service", "again", "default")["spec"]["clusterIP"]
            for place in (cluster, *cluster.nodes):
                servers.wait_for(cluster.setup, place, [f"https://{address}/readyz"], 30.0)


def _heartbeat(node):
    return next(c["lastHeartbeatTime"] for c in node["status"]["conditions"] if c["type"] == "Ready")


def _container(pod):
    return pod["status"]["containerStatuses"][0]["containerID"]


if __name__ == "__main__":
    unittest.main()
