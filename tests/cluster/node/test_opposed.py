"""Tests pods and nodes that do not suit Crossover. Each pod runs, or is refused with a reason that its user can act on,
and no GPU is given out twice. test_owner.py tests other device plugins, and test_mps.py other users of MPS.
"""

import json
import subprocess
import unittest
from pathlib import Path

from testing.cluster import gpu_ways
from testing.cluster.pods import SLOT, with_slots
from testing.cluster.rig import phase, versions
from testing.cluster.rig.images import USER
from tests.cluster.node.node_case import NAMESPACE, NodeCase, SHELL

_MUSL = versions.cache() / "images-1/musl/lib/ld-musl-x86_64.so.1"
_UNPACKED = versions.cache() / "cluster-debian-12"
_LIBWRAP = "/usr/lib/x86_64-linux-gnu/libwrap.so.0"
_OURS = "/opt/crossover/libcrossover.so"
_REGISTERED = "registered crossover.dev/slot"


class Opposed(NodeCase):
    def programs(self, image):
        return self.build.top / "tests/process/sidecar/images" / image

    def load(self, name, files, provided=()):
        image = f"crossover.test/{name}:1"
        self.cluster.image_of(image, files, provided=provided)
        return image

    def create(self, name, image, command, slots=1, **spec):
        pod = with_slots(name, image, command, self.node.name, slots, **spec)
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod))

    def run_to_its_end(self, name, image, command):
        """Runs a pod to its end, asserts that it succeeded, and returns what it wrote."""
        self.create(name, image, command)
        pod = self.cluster.wait_for("pod", name, phase("Succeeded", "Failed"), NAMESPACE)
        said = self.cluster.logs(name, NAMESPACE)
        self.assertEqual(pod["status"]["phase"], "Succeeded", said)
        return said

    def test_an_image_with_musl(self):
        image = self.load("musl", {"/greets": self.programs("musl") / "greets", "/lib/ld-musl-x86_64.so.1": _MUSL},
                          provided=("libc.musl-x86_64.so.1", "libc.so"))
        self.assertEqual(self.run_to_its_end("musl", image, ["/greets"]), "hello\n")

    def test_a_static_program(self):
        image = self.load("static", {"/greets": self.programs("static") / "greets"})
        self.assertEqual(self.run_to_its_end("static", image, ["/greets"]), "hello\n")

    def test_a_process_without_any_environment_has_the_library(self):
        """Ranks that are started through sshd have nothing of the container's environment."""
        image = self.load("plain", {"/bin/cat": "/bin/cat", "/usr/bin/env": "/usr/bin/env"})
        said = self.run_to_its_end("no-environment", image, ["/usr/bin/env", "-i", "/bin/cat", "/proc/self/maps"])
        self.assertIn(_OURS, said)

    def sshd_image(self):
        """Returns an image with a host key and a user's key. All users can read them, because the files of an image
        belong to root."""
        files = Path(self.cluster.directory) / "sshd"
        files.mkdir()
        for name in ("host", "user"):
            make = [_UNPACKED / "usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", files / name]
            subprocess.run([str(word) for word in make], check=True)
        (files / "config").write_text(
            "Port 2222\nListenAddress 127.0.0.1\nHostKey /dev/shm/host\nUsePAM no\n"
            "AuthorizedKeysFile /etc/ssh/user.pub\nStrictModes no\nPidFile none\n", encoding="ascii")
        (files / "passwd").write_text(f"nonroot:x:{USER}:{USER}::/tmp:/bin/sh\n", encoding="ascii")
        return self.load("sshd", {
            "/etc/passwd": files / "passwd", _LIBWRAP: _UNPACKED / _LIBWRAP[1:],
            **{program: _UNPACKED / program[1:] for program in ("/usr/sbin/sshd", "/usr/bin/ssh")},
            **{program: program for program in ("/bin/sh", "/bin/cat", "/bin/cp", "/bin/chmod")},
            **{f"/etc/ssh/{name}": files / name for name in ("host", "user", "user.pub", "config")}},
            provided=(Path(_LIBWRAP).name,))

    def test_a_rank_that_comes_in_through_sshd_has_the_library(self):
        """The image's own sshd runs as its user. A command that is started through it has the environment that sshd
        makes."""
        own = "for key in host user; do cp /etc/ssh/$key /dev/shm/$key && chmod 600 /dev/shm/$key; done"
        sshd = f"{own}; exec /usr/sbin/sshd -D -e -f /etc/ssh/config"
        self.create("sshd", self.sshd_image(), ["/bin/sh", "-c", sshd])
        self.cluster.wait_for("pod", "sshd", phase("Running", "Failed"), NAMESPACE)
        self.await_true(lambda: "Server listening" in self.cluster.logs("sshd", NAMESPACE), "sshd does not listen")
        said = self.cluster.kubectl(
            "exec", "sshd", "--namespace", NAMESPACE, "--", "/usr/bin/ssh", "-i", "/dev/shm/user", "-p", "2222",
            "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "nonroot@127.0.0.1",
            "echo \"preloads '$LD_PRELOAD'\"; cat /proc/self/maps")
        self.assertIn("preloads ''", said)
        self.assertIn(_OURS, said)

    def test_an_image_that_preloads_by_the_loaders_file_keeps_that_where_ours_comes_by_the_environment(self):
        own = self.build.test_library("own_preload", "tests/cluster")
        preload = Path(self.cluster.directory) / "ld.so.preload"
        preload.write_text("/usr/lib/own_preload.so\n", encoding="ascii")
        image = self.load("own-preload", {"/bin/cat": "/bin/cat", "/usr/lib/own_preload.so": own,
                                          "/etc/ld.so.preload": preload})
        command = ["/bin/cat", "/proc/self/maps"]
        said = self.run_to_its_end("hides-its-own", image, command)
        self.assertIn(_OURS, said)
        self.assertNotIn("/usr/lib/own_preload.so", said)
        seen = len(self.daemons.said(self.node))
        self.daemons.configure(self.node, node_settings={"injection": "environment"})
        self.wait_for_words("configuration reloaded", seen)
        said = self.run_to_its_end("keeps-its-own", image, command)
        self.assertIn(_OURS, said)
        self.assertIn("/usr/lib/own_preload.so", said)
        seen = len(self.daemons.said(self.node))
        self.daemons.configure(self.node)
        self.wait_for_words("configuration reloaded", seen)

    def test_a_pod_with_a_user_namespace_of_its_own_runs_or_says_why_not(self):
        image = self.load("users", {"/bin/cat": "/bin/cat"})
        self.create("users", image, ["/bin/cat", "/proc/self/maps"], hostUsers=False)

        def decided(pod):
            waiting = pod["status"].get("containerStatuses", [{}])[0].get("state", {}).get("waiting", {})
            return phase("Succeeded", "Failed")(pod) or waiting.get("message") or any(
                "user namespaces" in line for line in self.cluster.events(NAMESPACE, "users"))

        pod = self.cluster.wait_for("pod", "users", decided, NAMESPACE)
        if pod["status"]["phase"] == "Succeeded":
            self.assertIn(_OURS, self.cluster.logs("users", NAMESPACE))
        else:
            said = "\n".join(self.cluster.events(NAMESPACE, "users"))
            self.assertRegex(said, "(?i)user namespace|userns|idmap")

    def test_cdi_devices_reach_containers_where_containerd_has_them(self):
        """containerd 1.6 has no CDI and would not report that. There the daemon gives out no slots by CDI, and says
        why."""
        if not self.cluster.has_cdi:
            gpu_ways.Cdi(self.gpus).install(0, self.node)
        image = self.load("by-cdi", {"/bin/cat": "/bin/cat"})
        seen = len(self.daemons.said(self.node))
        self.daemons.configure(self.node, node_settings={"devices": "cdi"})
        self.wait_for_words("configuration reloaded", seen)
        if self.cluster.has_cdi:
            said = self.run_to_its_end("by-cdi", image, ["/bin/cat", "/proc/self/mountinfo"])
            self.assertIn(f" {gpu_ways.LIBRARIES} ", said)
        else:
            self.cluster.wait_for("node", self.node.name, lambda node: node["status"]["allocatable"][SLOT] == "0")
            self.wait_for_event(self.node.name, "SlotsWithheld", "default")
            said = "\n".join(self.cluster.events("default", self.node.name))
            self.assertIn("gives containers no CDI devices: set node.devices to device-nodes", said)
        seen = len(self.daemons.said(self.node))
        self.daemons.configure(self.node)
        self.wait_for_words("configuration reloaded", seen)

    def test_two_slots_where_there_is_one_gpu_left_are_refused_in_words(self):
        """A container's slots are of different GPUs. It cannot have more than there are GPUs."""
        image = self.load("greedy", {"/bin/sleep": "/bin/sleep"})
        self.create("greedy", image, ["/bin/sleep", "1000"], slots=3)
        pod = self.cluster.wait_for("pod", "greedy", phase("Failed"), NAMESPACE)
        self.assertIn("two slots of GPU", pod["status"]["message"])
        self.assertIn("ask for fewer crossover.dev/slot", pod["status"]["message"])

    def test_the_daemon_is_upgraded_under_a_pod(self):
        """The pod's container restarts with the version that it had, also after its kubelet. New pods get the new
        version."""
        image = self.load("upgraded", {"/bin/sh": "/bin/sh", "/bin/cat": "/bin/cat", "/bin/sleep": "/bin/sleep"})
        shows = ["/bin/sh", "-c", "cat /proc/self/mountinfo; sleep 1000 & wait"]
        self.create("old", image, shows, restartPolicy="Always")
        self.cluster.wait_for("pod", "old", phase("Running"), NAMESPACE)
        before = self.version_of("old")
        self.daemons.end_on(0)
        self.daemons.start_on(0, library=str(self.build.native_library))
        self.restart_kubelet()
        self.create("new", image, shows)
        self.cluster.wait_for("pod", "new", phase("Running"), NAMESPACE)
        self.assertNotEqual(self.version_of("new"), before)
        end = "kill -TERM $(cat /proc/1/task/1/children)"  # the container's first process waits for it
        self.cluster.kubectl("exec", "old", "--namespace", NAMESPACE, "--", "/bin/sh", "-c", end)
        self.cluster.wait_for("pod", "old", lambda pod: pod["status"]["containerStatuses"][0]["restartCount"] == 1
                              and pod["status"]["containerStatuses"][0]["ready"], NAMESPACE)
        self.assertEqual(self.version_of("old"), before)
        self.daemons.end_on(0)
        self.start_daemon()

    def test_a_process_that_starts_while_the_daemon_is_replaced_takes_part(self):
        """The process's memory budget shows it: only the library enforces that."""
        image = self.load("gpu-user", {"/usr/bin/gpu_user": self.build.program("gpu_user"), "/bin/sh": "/bin/sh",
                                       "/bin/sleep": "/bin/sleep"})
        self.create("waits", image, ["/bin/sleep", "1000"])
        self.cluster.wait_for("pod", "waits", phase("Running"), NAMESPACE)

        def is_on_the_gpu(variables):
            done = self.cluster.kubectl("exec", "waits", "--namespace", NAMESPACE, "--", "/bin/sh", "-c",
                                        f"{variables} /usr/bin/gpu_user 0 crash 32", check=False)
            self.assertIn("the driver refuses" if done.stdout == "" else "on the GPU", done.stdout + done.stderr)
            return done.stdout != ""
        little = "CROSSOVER_GPU_MEMORY=16Mi"
        self.assertFalse(is_on_the_gpu(little))
        self.daemons.end_on(0)
        self.assertFalse(self.node.reach("/run/crossover/arbiter/arbiter.sock").exists())
        self.assertFalse(is_on_the_gpu(little), "while the daemon is away")
        self.assertTrue(is_on_the_gpu(f"{little} CROSSOVER_DISABLE=1"), "the control")
        self.start_daemon()

    def test_the_kubelet_is_restarted_under_a_pod(self):
        """The pod runs on, and later pods get the slots that are left."""
        self.create("stays", SHELL, ["/bin/sleep", "1000"], slots=2)
        before = self.cluster.wait_for("pod", "stays", phase("Running"), NAMESPACE)["status"]["containerStatuses"]
        self.restart_kubelet()
        for number in range(2):
            self.create(f"comes-{number}", SHELL, ["/bin/sleep", "1000"])
            self.cluster.wait_for("pod", f"comes-{number}", phase("Running"), NAMESPACE)
        self.create("too-many", SHELL, ["/bin/sleep", "1000"])
        self.await_true(lambda: any("Insufficient crossover.dev/slot" in line
                                    for line in self.cluster.events(NAMESPACE, "too-many")), "a fifth slot is found")
        after = self.cluster.get("pod", "stays", NAMESPACE)["status"]["containerStatuses"]
        self.assertEqual([(each["containerID"], each["restartCount"]) for each in after],
                         [(each["containerID"], 0) for each in before])

    def restart_kubelet(self):
        """Restarts the node's kubelet and blocks until it gives out slots. Until its daemon has registered, the API
        shows the slots of the one before."""
        self.node.stop_kubelet()
        seen = len(self.daemons.said(self.node))
        self.node.start_kubelet()
        self.wait_for_words(_REGISTERED, seen)
        self.wait_for_slots(4)

    def start_daemon(self):
        """Starts the node's daemon, whose log begins anew, and blocks until the kubelet gives out its slots."""
        self.daemons.start_on(0)
        self.wait_for_words(_REGISTERED)
        self.wait_for_slots(4)

    def version_of(self, pod):
        """Returns the directory on the host from which the pod's containers have the library."""
        self.await_true(lambda: " /opt/crossover " in self.cluster.logs(pod, NAMESPACE), f"{pod} says nothing")
        line = next(line for line in self.cluster.logs(pod, NAMESPACE).splitlines() if " /opt/crossover " in line)
        return line.split()[3]


if __name__ == "__main__":
    unittest.main()
