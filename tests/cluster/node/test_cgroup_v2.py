"""Tests a node with control groups of version 2, whose systemd makes the groups of pods: a virtual machine, beside a
node of the machine that the tests run on. All that users do against us is tried there, too (test_opposed.py)."""

import json
import re
import unittest

from testing.cluster.pods import SLOT, assigned, with_slots
from testing.cluster.rig import phase, versions
from testing.cluster.vm.node import VmNode
from tests.cluster.node import test_opposed
from tests.cluster.node.node_case import NAMESPACE, SHELL
from tests.cluster.node.pod_processes import Client, groups_of

_ROOT = "/sys/fs/cgroup"
_FREE = "free"  # a namespace whose pods may be root
_TOOLS = "crossover.test/tools:1"
# Files that stand for the GPUs' devices: terminals of the virtual machine. No container has these unasked.
_TERMINAL, _FIRST = 4, 40
_DEVICE_FILES = ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
_RESIZED = "300m"


def pod_by_version_1(cgroups):
    """Returns the UID of a pod as a reader of version 1's paths alone finds it: of hierarchies that have a number, in
    folders as a kubelet without systemd names them."""
    for line in cgroups.splitlines():
        hierarchy, _, path = line.split(":", 2)
        if hierarchy != "0" and (found := re.search(r"/pod([0-9a-f-]{36})(/|$)", path)):
            return found.group(1)
    return ""


class CgroupV2(test_opposed.Opposed):
    KINDS = {1: VmNode}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.namespace(_FREE, enforce="privileged")
        cls.cluster.image_of(_TOOLS, {path: path for path in ("/bin/sh", "/bin/cat", "/bin/sleep", "/bin/mknod")} | {
            "/usr/bin/gpu_user": cls.build.program("gpu_user")})
        numbers = [f"mknod -m 666 /dev/{name} c {_TERMINAL} {_FIRST + number}"
                   for number, name in enumerate(_DEVICE_FILES)]
        cls.node.run(["sh", "-c", " && ".join(numbers)])

    def run_pod(self, name, pod, namespace=NAMESPACE):
        """Creates a pod and returns it once it runs."""
        self.cluster.kubectl("create", "--namespace", namespace, "--filename", "-", input=json.dumps(pod))
        self.addCleanup(self.cluster.kubectl, "delete", "pod", name, "--namespace", namespace, "--now",
                        "--ignore-not-found")
        return self.cluster.wait_for("pod", name, phase("Running"), namespace)

    def sleeper(self, name, gang, gpu=0, number=0, **annotations):
        """Runs a pod of a gang with a slot on a GPU of a node, and returns it."""
        node = self.cluster.nodes[number]
        pod = assigned(with_slots(name, SHELL, ["/bin/sleep", "10000"], node.name), gang, self.gpus.uuids(number)[gpu])
        pod["metadata"]["annotations"] |= annotations
        return self.run_pod(name, pod)

    def shell(self, name, script, namespace=_FREE):
        """Returns (exit code, what it says) of a shell's command in a pod."""
        done = self.cluster.kubectl("exec", name, "--namespace", namespace, "--", "/bin/sh", "-c", script, check=False)
        return done.returncode, done.stdout + done.stderr

    # Identity.

    def test_a_process_is_known_by_the_path_that_systemd_gave_its_container(self):
        pod = self.sleeper("known", "one")
        uid = pod["metadata"]["uid"]
        container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
        parent = "/kubepods.slice/kubepods-besteffort.slice"
        groups = groups_of(self.node, "sleep", uid)
        self.assertEqual(groups, f"0::{parent}/kubepods-besteffort-pod{uid.replace('-', '_')}.slice/"
                                 f"cri-containerd-{container}.scope\n")
        self.assertEqual(self.joins(self.own_group(groups)), f"{NAMESPACE}/one")

    def test_a_reader_of_version_1_finds_no_pod_there(self):
        """This is the control: the same reader finds the pod of the other node."""
        here, there = self.sleeper("here", "one"), self.sleeper("there", "two", number=1)
        found = [pod_by_version_1(groups_of(node, "sleep", pod["metadata"]["uid"]))
                 for node, pod in zip(self.cluster.nodes, (here, there))]
        self.assertEqual(found, ["", there["metadata"]["uid"]])

    def test_a_process_is_never_taken_for_another_pods(self):
        robbed, robber = self.sleeper("robbed", "robbed"), self.sleeper("robber", "robber")
        uid = robbed["metadata"]["uid"]
        own, victims = (self.own_group(groups_of(self.node, "sleep", pod["metadata"]["uid"]))
                        for pod in (robber, robbed))
        slice_name = victims.rsplit("/", 2)[1]
        for what, group, known in (
                ("its own group", own, f"{NAMESPACE}/robber"),
                ("a nested slice", f"{own}/{slice_name}", f"{NAMESPACE}/robber"),
                ("nested groups as of another driver", f"{own}/kubepods/pod{uid}", f"{NAMESPACE}/robber"),
                ("a user's group", f"{_ROOT}/user.slice/user-1000.slice/kubepods.slice/{slice_name}", ""),
                ("a service's group", f"{_ROOT}/system.slice/kubepods/pod{uid}", ""),
                ("no pod", f"{_ROOT}/system.slice/plain", ""),
                ("the other pod in earnest, which is the control", victims, f"{NAMESPACE}/robbed")):
            with self.subTest(what):
                self.assertEqual(self.joins(group), known)

    def test_a_gpu_without_a_slot_is_refused(self):
        pod = self.sleeper("one-gpu", "one")
        group = self.own_group(groups_of(self.node, "sleep", pod["metadata"]["uid"]))
        with Client(self.cluster, self.node, self.gpus.uuids(0)[1], [group]) as client:
            self.assertIn(f"pod {NAMESPACE}/one-gpu has no slot of gpu {self.gpus.uuids(0)[1]}", client.answer)
        self.assertEqual(self.joins(group), f"{NAMESPACE}/one", "the control")

    @staticmethod
    def own_group(groups):
        return _ROOT + groups.strip().partition("::")[2]

    def joins(self, group):
        """Returns as which gang a process in this group is let in to take turns; "" if it is refused."""
        tail, joined = self.daemons.trace_tail(self.node), []
        with Client(self.cluster, self.node, self.gpus.uuids(0)[0], [group]) as client:
            if client.answer != "joined":
                return ""

            def told():
                joined.extend(event.gang for event in tail.news() if event.event == "join")
                return joined
            self.await_true(told, "the daemon's trace tells of no client")
        return joined[-1]

    # Limits.

    def test_the_memory_of_a_pod_is_bounded_by_what_its_daemon_says(self):
        """The pod's containers know nothing of it: the daemon finds the pod by the process that asks."""
        for name, limit in (("little", "16Mi"), ("much", "64Mi")):
            pod = with_slots(name, _TOOLS, ["/bin/sleep", "10000"], self.node.name)
            pod["metadata"]["annotations"] = {"crossover.dev/gpu-memory": limit}
            self.run_pod(name, pod)
        self.assertFalse(self.gets_memory("little"))
        self.assertTrue(self.gets_memory("much"))
        self.assertTrue(self.gets_memory("little", "CROSSOVER_DISABLE=1"), "the control")
        self.cluster.kubectl("annotate", "--overwrite", "pod", "little", "--namespace", NAMESPACE,
                             "crossover.dev/gpu-memory=64Mi")
        self.await_true(lambda: self.gets_memory("little"), "the new limit does not come")

    def gets_memory(self, name, variables=""):
        """Tells whether a process of the pod gets 32 MiB of its GPU. It is older than a second: before Linux 6.5 the
        daemon does not tell younger ones their limit."""
        _, said = self.shell(name, f"/bin/sleep 2; {variables} exec /usr/bin/gpu_user 0 crash 32", NAMESPACE)
        self.assertRegex(said, "on the GPU|the driver refuses")
        return "on the GPU" in said

    # Devices.

    def test_containers_have_their_gpus_device_alone_over_a_reload_and_a_resize(self):
        for strategy in ("device-nodes", "environment"):
            with self.subTest(strategy):
                seen = len(self.daemons.said(self.node))
                self.daemons.configure(self.node, node_settings={"devices": strategy})
                self.wait_for_words("configuration reloaded", seen)
                self.run_pod(strategy, self.pod_of_root(strategy), _FREE)
                self.must_have_its_device_alone(strategy)
                self.node.run(["systemctl", "daemon-reload"])
                self.must_have_its_device_alone(strategy)
                self.resize(strategy)
                self.must_have_its_device_alone(strategy)
                self.node.run(["systemctl", "daemon-reload"])
                self.must_have_its_device_alone(strategy)
        seen = len(self.daemons.said(self.node))
        self.daemons.configure(self.node)
        self.wait_for_words("configuration reloaded", seen)

    def pod_of_root(self, name):
        """Returns a pod that may make device files, and has a slot of the first GPU."""
        pod = assigned(with_slots(name, _TOOLS, ["/bin/sleep", "10000"], self.node.name), name, self.gpus.uuids(0)[0])
        pod["spec"]["securityContext"] = {"runAsUser": 0}
        container = pod["spec"]["containers"][0]
        container["securityContext"] = {"capabilities": {"add": ["MKNOD"]}}
        container["resources"] = {"limits": {SLOT: "1", "cpu": "200m"}, "requests": {"cpu": "100m"}}
        return pod

    def must_have_its_device_alone(self, name):
        number = _FIRST + 1
        for what, script, wanted in (
                ("its own GPU's", ": < /dev/nvidia0", None),
                ("what all GPUs need", ": < /dev/nvidiactl", None),
                ("another GPU's, which the container lacks", ": < /dev/nvidia1", "No such file|nonexistent"),
                ("another GPU's by a file of its own",
                 f"[ -e /tmp/other ] || /bin/mknod /tmp/other c {_TERMINAL} {number}; : < /tmp/other",
                 "Operation not permitted"),
                ("the control: a device that all containers have",
                 "[ -e /tmp/null ] || /bin/mknod /tmp/null c 1 3; : < /tmp/null", None)):
            with self.subTest(what):
                code, said = self.shell(name, script)
                self.assertEqual(code == 0, wanted is None, said)
                if wanted:
                    self.assertRegex(said, wanted)

    def resize(self, name):
        """Gives the pod's container more CPU time while it runs, where kubelets can, and waits until it has it."""
        if any(versions.begins(self.cluster.setup.programs.kube_version, old) for old in ("1.31", "1.32")):
            return
        change = {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": _RESIZED}}}]}}
        self.cluster.kubectl("patch", "pod", name, "--namespace", _FREE, "--subresource", "resize", "--patch",
                             json.dumps(change))

        def resized(pod):
            resources = pod["status"]["containerStatuses"][0].get("resources", {})
            return resources.get("limits", {}).get("cpu") == _RESIZED
        pod = self.cluster.wait_for("pod", name, resized, _FREE)
        self.assertEqual(pod["status"]["containerStatuses"][0]["restartCount"], 0)
        group = self.own_group(groups_of(self.node, "sleep", pod["metadata"]["uid"]))
        self.assertEqual(self.node.reach(f"{group}/cpu.max").read_text().split()[0], "30000")


if __name__ == "__main__":
    unittest.main()
