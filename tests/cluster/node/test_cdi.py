"""Tests nodes whose CDI specifications name all GPUs together alone, as under the GPU Operator: the node daemon names
each by a specification of its own."""

import json
import unittest

from testing.cluster import gpu_ways
from testing.cluster.pods import assigned, with_slots
from testing.cluster.rig import phase
from tests.cluster.node.node_case import NAMESPACE, NodeCase

_DEVICE_FILES = ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm")
_READER = "crossover.test/reader:1"
_GIVEN = "CDI: the names of GPUs are those of a given specification"
_OWN = "CDI: /var/run/cdi/crossover.dev-gpu.json names the GPUs of this node"


class OwnSpecification(NodeCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.cluster.has_cdi:
            cls.cluster.image_of(_READER, {"/bin/cat": "/bin/cat"})
            cls.node.make_device_files(_DEVICE_FILES)

    def setUp(self):
        if not self.cluster.has_cdi:
            self.skipTest("containerd 1.6 has no CDI")

    def have_one_name_for_all(self):
        """Makes of the node's specification what the GPU Operator's toolkit writes."""
        path = self.node.reach(gpu_ways.SPECIFICATION)
        given = json.loads(path.read_text(encoding="utf-8"))
        given |= {"kind": "management.nvidia.com/gpu", "devices": [{"name": "all", "containerEdits": {
            "deviceNodes": [{"path": f"/dev/{name}"} for name in _DEVICE_FILES]}}]}
        path.write_text(json.dumps(given), encoding="utf-8")

    def create(self, name, uuid):
        pod = assigned(with_slots(name, _READER, ["/bin/cat", "/proc/self/mountinfo"], self.node.name), name, uuid)
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod))

    def take_given_names(self, name):
        """Lets the daemon take the names of the toolkit's specification, as it did before it wrote one of its own.
        Blocks until a pod of this name is refused: the specification has no name of its GPU."""
        after = len(self.daemons.said(self.node))
        self.daemons.configure(self.node, node_settings={"cdi": "given"})
        self.addCleanup(self.daemons.configure, self.node)
        self.wait_for_words("configuration reloaded", after)
        self.await_true(self.names_are_given, "the daemon has names of its own")
        self.have_one_name_for_all()
        self.create(name, self.gpus.uuids(0)[0])
        self.await_true(lambda: any("unresolvable CDI devices" in line
                                    for line in self.cluster.events(NAMESPACE, name)), f"{name} is not refused")
        self.delete_pods()

    def names_are_given(self):
        """Tells whether the daemon has last said that it takes given names. It does so a moment after it has read its
        configuration."""
        said = self.daemons.said(self.node)
        return said.rfind(_GIVEN) > said.rfind(_OWN)

    def test_by_the_given_names_alone_no_pod_gets_its_gpu(self):
        self.take_given_names("given-alone")

    def test_a_pod_gets_its_gpu_by_our_name(self):
        uuid = self.gpus.uuids(0)[0]
        self.take_given_names("given")  # this is the control
        self.daemons.configure(self.node)
        self.wait_for_words(_OWN)
        self.create("own", uuid)
        pod = self.cluster.wait_for("pod", "own", phase("Succeeded", "Failed"), NAMESPACE)
        said = self.cluster.logs("own", NAMESPACE)
        self.assertEqual(pod["status"]["phase"], "Succeeded", said)
        self.assertIn(f" {gpu_ways.LIBRARIES} ", said, "the driver's libraries are not there")

    def test_without_any_specification_nothing_is_given_out_until_there_is_one(self):
        path = self.node.reach(gpu_ways.SPECIFICATION)
        given = path.read_text(encoding="utf-8")
        path.unlink()
        self.wait_for_slots(0)
        self.wait_for_words("expected a CDI specification of NVIDIA's toolkit, got none")
        self.wait_for_event(self.node.name, "SlotsWithheld", "default")
        path.write_text(given, encoding="utf-8")
        self.wait_for_slots(4)


if __name__ == "__main__":
    unittest.main()
