"""Tests what the node agents have of their hosts: exactly what docs/security.md lists, and other pods have nothing."""

import unittest

from testing.chart import INSTALLATIONS, MONITORING, TREE, objects, pod_templates, render
from tests.docs.pages import section

_DAEMON, _MPS, _SIGNALLER = "crossover-deviceplugin", "crossover-mps", "crossover-signaller"
_ROOT_OF_ITS_NODE = {"privileged": True, "runAsUser": 0, "readOnlyRootFilesystem": True}
_ROOT_OF_NOTHING = {"runAsUser": 0, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
_ALL_AGENTS = ("mps.enabled=true", "signaller.enabled=true", "deviceplugin.config.transport=ipc")
# These values name folders, which differ from the defaults.
_FOLDERS = ("deviceplugin.kubeletDirectory=/kubelet", "deviceplugin.hostDirectory=/state", "driver.root=/driver")


def exceptions(folders, namespaces=("hostPID",), context=None):
    """Returns an agent's exceptions. `folders` is {folder of the host: what may be done there}."""
    return {"namespaces": set(namespaces), "contexts": [context or _ROOT_OF_ITS_NODE], "ports": set(),
            "folders": folders}


# Each set of values has the exceptions that it must have. docs/security.md, "Exceptions of the node daemon", says why,
# and that there are no more.
_LISTED = {
    (): {
        _DAEMON: exceptions({"/var/lib/kubelet/device-plugins": "write", "/var/lib/crossover": "write",
                             "/run/crossover": "write", "/var/run/cdi": "write"}),
        _MPS: exceptions({"/run/crossover/mps": "mount"}),
        _SIGNALLER: exceptions({"/run/crossover/arbiter": "read"}, (), _ROOT_OF_NOTHING)},
    _FOLDERS: {
        _DAEMON: exceptions({"/kubelet/device-plugins": "write", "/state": "write", "/run/crossover": "write",
                             "/var/run/cdi": "write", "/driver": "read"}),
        _MPS: exceptions({"/run/crossover/mps": "mount", "/driver": "read"}),
        _SIGNALLER: exceptions({"/run/crossover/arbiter": "read", "/driver": "read"}, ())}}


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


def unlike(constraints, made):
    """Returns where SecurityContextConstraints of OpenShift allow more or less than the pods of the node agents ask
    for, in words."""
    agents = {name: pod for name, pod in pod_templates(made).items() if name in (_DAEMON, _MPS, _SIGNALLER)}
    have = [of_the_host(pod) for pod in agents.values()]
    wanted = {"allowHostPID": any("hostPID" in one["namespaces"] for one in have),
              "allowHostIPC": any("hostIPC" in one["namespaces"] for one in have),
              "allowHostNetwork": any("hostNetwork" in one["namespaces"] for one in have),
              "allowHostPorts": any(one["ports"] for one in have),
              "allowHostDirVolumePlugin": any(one["folders"] for one in have),
              "allowPrivilegedContainer": any(c.get("privileged") for one in have for c in one["contexts"]),
              "readOnlyRootFilesystem": all(c.get("readOnlyRootFilesystem") for one in have for c in one["contexts"])}
    words = [f"{key}: expected {value}, got {constraints.get(key)}" for key, value in wanted.items()
             if constraints.get(key) != value]
    kinds = {kind for pod in agents.values() for volume in pod["volumes"] for kind in volume if kind != "name"}
    words += [f"volumes: expected {kind}, got none" for kind in sorted(kinds - set(constraints["volumes"]))]
    users = {f"system:serviceaccount:crossover-system:{pod['serviceAccountName']}" for pod in agents.values()}
    if set(constraints["users"]) != users:
        words.append(f"users: expected {sorted(users)}, got {constraints['users']}")
    return words


class Exceptions(unittest.TestCase):
    def test_they_are_those_that_are_listed(self):
        for values, listed in _LISTED.items():
            pods = pod_templates(objects(*_ALL_AGENTS, *MONITORING, *values))
            for name, pod in pods.items():
                with self.subTest(name, values=values):
                    if name in listed:
                        self.assertEqual(of_the_host(pod), listed[name])
                    else:
                        have = of_the_host(pod)
                        self.assertEqual((have["namespaces"], have["ports"], have["folders"]), (set(), set(), {}))
            self.assertLess(set(listed), set(pods))

    def test_openshift_is_asked_for_exactly_these(self):
        values = ("openshift.securityContextConstraints=true", *_ALL_AGENTS, *_FOLDERS)
        made = objects(*values)
        constraints = next(item for item in made if item["kind"] == "SecurityContextConstraints")
        self.assertEqual(unlike(constraints, made), [])
        for change in ({"allowHostIPC": True}, {"allowHostPID": False}, {"allowPrivilegedContainer": False},
                       {"users": constraints["users"][:1]}, {"volumes": ["configMap"]},
                       {"users": [*constraints["users"], "system:serviceaccount:crossover-system:default"]}):
            with self.subTest(change):
                self.assertNotEqual(unlike(constraints | change, made), [], "the control")
        bound = {item["subjects"][0]["name"] for item in made if item["kind"] == "RoleBinding"
                 and item["roleRef"]["name"] == "system:openshift:scc:nonroot-v2"}
        self.assertEqual(bound, {"crossover-extender", "crossover-test"})
        self.assertNotIn("SecurityContextConstraints", {item["kind"] for item in objects(*_ALL_AGENTS)})

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
