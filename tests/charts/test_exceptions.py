"""Tests what the node agents have of their hosts: exactly what docs/security.md lists, and other pods have nothing."""

import unittest

from tests.charts.chart import INSTALLATIONS, MONITORING, TREE, objects, pod_templates, render
from tests.docs.pages import section

_DAEMON, _MPS = "crossover-deviceplugin", "crossover-mps"
_ROOT_OF_ITS_NODE = {"privileged": True, "runAsUser": 0, "readOnlyRootFilesystem": True}
# These values name folders, which differ from the defaults.
_FOLDERS = ("deviceplugin.kubeletDirectory=/kubelet", "deviceplugin.hostDirectory=/state", "driver.root=/driver")


def exceptions(folders):
    """Returns an agent's exceptions. `folders` is {folder of the host: what may be done there}."""
    return {"namespaces": {"hostPID"}, "contexts": [_ROOT_OF_ITS_NODE], "ports": set(), "folders": folders}


# Each set of values has the exceptions that it must have. docs/security.md, "Exceptions of the node daemon", says why,
# and that there are no more.
_LISTED = {
    (): {
        _DAEMON: exceptions({"/var/lib/kubelet/device-plugins": "write", "/var/lib/crossover": "write",
                             "/run/crossover": "write", "/var/run/cdi": "write"}),
        _MPS: exceptions({"/run/crossover/mps": "mount"})},
    _FOLDERS: {
        _DAEMON: exceptions({"/kubelet/device-plugins": "write", "/state": "write", "/run/crossover": "write",
                             "/var/run/cdi": "write", "/driver": "read"}),
        _MPS: exceptions({"/run/crossover/mps": "mount", "/driver": "read"})}}


def of_the_host(pod):
    """Returns all that a pod has of its node."""
    containers = [*pod["containers"], *pod.get("initContainers", ())]
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod.get("volumes", ()) if "hostPath" in volume}
    folders = dict.fromkeys(paths.values(), "no mount")
    for container in containers:
        for mount in container.get("volumeMounts", ()):
            if mount["name"] in paths:
                way = "mount" if mount.get("mountPropagation") == "Bidirectional" else "write"
                folders[paths[mount["name"]]] = "read" if mount.get("readOnly") else way
    return {"namespaces": {key for key in ("hostPID", "hostIPC", "hostNetwork") if pod.get(key)},
            "contexts": [pod.get("securityContext", {}) | container["securityContext"] for container in containers],
            "ports": {port["hostPort"] for container in containers for port in container.get("ports", ())
                      if "hostPort" in port},
            "folders": folders}


class Exceptions(unittest.TestCase):
    def test_they_are_those_that_are_listed(self):
        for values, listed in _LISTED.items():
            pods = pod_templates(objects("mps.enabled=true", *MONITORING, *values))
            for name, pod in pods.items():
                with self.subTest(name, values=values):
                    if name in listed:
                        self.assertEqual(of_the_host(pod), listed[name])
                    else:
                        have = of_the_host(pod)
                        self.assertEqual((have["namespaces"], have["ports"], have["folders"]), (set(), set(), {}))
            self.assertLess(set(listed), set(pods))

    def test_one_more_is_found(self):
        """This is the control."""
        for change in (lambda pod: pod.update(hostIPC=True),
                       lambda pod: pod["volumes"].append({"name": "root", "hostPath": {"path": "/"}}),
                       lambda pod: pod["containers"][0]["securityContext"].update(capabilities={"add": ["SYS_ADMIN"]}),
                       lambda pod: pod["containers"][0]["ports"][0].update(hostPort=9465),
                       lambda pod: pod["containers"][0]["volumeMounts"][2].update(mountPropagation="Bidirectional")):
            pod = pod_templates(objects())[_DAEMON]
            change(pod)
            self.assertNotEqual(of_the_host(pod), _LISTED[()][_DAEMON])

    def test_the_page_has_them(self):
        page = section((TREE / "docs/security.md").read_text(encoding="utf-8"), "Exceptions of the node daemon")
        for words in ("hostPID", "privileged", "device-plugins", "deviceplugin.hostDirectory", "/run/crossover",
                      "/run/crossover/mps", "/var/run/cdi", "driver.root"):
            self.assertIn(f"`{words}`", page)

    def test_their_files_explain_them(self):
        text = render()
        for number in (1, 2, 3):
            self.assertIn(f"Exception {number} of 3", text)
        self.assertNotIn("Exception 4", text)

    def test_an_extender_is_on_its_nodes_network_where_that_is_wanted_alone(self):
        for name, values in INSTALLATIONS.items():
            there = {pod for pod, spec in pod_templates(objects(*values)).items() if "hostNetwork" in spec}
            self.assertEqual(there, {"crossover-extender"} if "extender.hostNetwork=true" in values else set(), name)


if __name__ == "__main__":
    unittest.main()
