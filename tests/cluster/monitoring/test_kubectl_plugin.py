"""Tests `kubectl crossover` on a real Kubernetes: what it finds of a node daemon, of pods that wait, and of planted
faults."""

import json
import os
import subprocess
import time
import unittest
from pathlib import Path

from testing.chart import MONITORING, find, objects
from testing.cluster.pods import MARKED, restricted
from testing.cluster.rig import Cluster, true
from testing.cluster.rig.versions import definitions
from testing.commands import Build
from tests.cluster.monitoring import kubectl_plugin

_HOME = "crossover-system"
_TEAM = "team"
_IMAGE = "crossover.test/daemon:1"
_CONFIG = "socket: {path: /tmp/arbiter.sock}\napi: {socket: /run/crossover/api.sock}\nprofiles: off\n"
_START = time.time()
_OTHER_HOME = "another-home"
_SECRET = "hunter2"
_TREE = Path(__file__).resolve().parents[3]


def program(component):
    """Returns the labels of a pod of ours."""
    return {"app.kubernetes.io/name": "crossover", "app.kubernetes.io/component": component}


class KubectlPlugin(unittest.TestCase):
    """The daemon serves no kubelet here, so the test itself writes the GPUNode."""

    @classmethod
    def setUpClass(cls):
        cls.build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(nodes=1)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.node = cls.cluster.nodes[0].name
        for file in sorted((_TREE / "manifests/crds").glob("*.yaml")):
            if file.name != "kustomization.yaml":
                cls.cluster.kubectl("apply", "--server-side", "-f", str(file))
        for crd in ("gpunodes", "jobprofiles"):
            cls.cluster.kubectl("wait", "--for=condition=Established", f"crd/{crd}.crossover.dev")
        config = cls.cluster.directory / "standalone.yaml"
        config.write_text(_CONFIG, encoding="utf-8")
        cls.cluster.image_of(_IMAGE, {"/usr/bin/crossover-deviceplugin": cls.build.daemon,
                                      "/usr/bin/crossover": cls.build.cli, "/etc/crossover.yaml": config})
        cls.cluster.namespace(_HOME, enforce="privileged")
        for name in (_TEAM, _OTHER_HOME):
            cls.cluster.namespace(name)
        pod = restricted("daemon", _IMAGE, ["/usr/bin/crossover-deviceplugin", "--standalone", "--config",
                                            "/etc/crossover.yaml"], cls.node)
        pod["metadata"].update(namespace=_HOME, labels=program("deviceplugin"))
        pod["spec"]["hostPID"] = True
        container = pod["spec"]["containers"][0]
        container["name"] = "deviceplugin"
        container["volumeMounts"] = [{"name": "run", "mountPath": "/run/crossover"},
                                     {"name": "tmp", "mountPath": "/tmp"}]
        pod["spec"]["volumes"] = [{"name": "run", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]
        cls.cluster.apply(pod)
        cls.cluster.wait_for("pod", "daemon", true("Ready"), _HOME)
        cls.publish()

    @classmethod
    def publish(cls, **gpu):
        cls.cluster.apply({"apiVersion": "crossover.dev/v1alpha1", "kind": "GPUNode", "metadata": {"name": cls.node},
                           "status": {"version": "0.1.0", "mode": "enforce", "maintenance": False, "slots": 2,
                                      "sharing": {"kind": "mps", "reason": ""},
                                      "gpus": [{"uuid": "GPU-1", "slots": 2, "healthy": True, "holders": [], **gpu}]}})

    def kubectl(self, *words, **options):
        return kubectl_plugin.kubectl(self.cluster, self.build, *words, **options)

    def plugin(self, *words, code=0, user="admin"):
        done = self.kubectl("crossover", *words, user=user)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + (done.stderr if code else "")

    def findings(self, **options):
        return kubectl_plugin.findings(self.cluster, self.build, **options)

    def test_top_asks_the_daemon_in_its_pod(self):
        answer = json.loads(self.plugin("top", "-o", "json"))
        self.assertEqual([node["node"] for node in answer["nodes"]], [self.node])
        self.assertEqual(answer["nodes"][0]["top"]["daemon"]["mode"], "enforce")
        self.assertIn("no job is connected on any node", self.plugin("top", "-o", "wide"))
        self.assertIn('"mode": "enforce"', self.plugin("top", "-o", "yaml"))
        self.assertIn("no node daemon runs on node nowhere", self.plugin("top", "--node", "nowhere", code=1))

    def test_timeline_goes_to_the_node(self):
        for words in (("--", "-o", "json"), ("-o", "json")):
            listed = json.loads(self.plugin("timeline", "--node", self.node, *words))
            self.assertEqual(listed.get("turns", []), [])
        self.assertIn("no turns were taken", self.plugin("timeline", "--node", self.node, "-o", "wide"))
        self.assertNotIn("no turns were taken", self.plugin("timeline", "--node", self.node, "-o", "yaml"))
        both = self.plugin("timeline", "--node", self.node, "-w", "1", "--", "--follow", code=2)
        self.assertIn("expected --watch or --follow, got both", both)

    def test_explain_says_why_a_pod_waits(self):
        """The reason is a real scheduler's: no node has free slots."""
        pod = restricted("waits", _IMAGE, ["/usr/bin/crossover", "--version"])
        pod["metadata"].update(namespace=_TEAM, labels=MARKED,
                               annotations={"crossover.dev/share": "true", "crossover.dev/gang": "mine"})
        pod["spec"]["containers"][0]["resources"] = {"limits": {"crossover.dev/slot": "1"}}
        self.cluster.apply(pod)
        self.cluster.wait_for("pod", "waits", lambda p: p and any(
            c["type"] == "PodScheduled" and c.get("message") for c in p["status"].get("conditions", ())), _TEAM)
        said = self.plugin("explain", "pod", "waits", "-n", _TEAM)
        self.assertIn("pod team/waits waits for a place, and has no scheduling gate", said)
        self.assertIn("Insufficient crossover.dev/slot", said)
        by_gang = json.loads(self.plugin("explain", "gang", "mine", "-n", _TEAM, "-o", "json"))
        self.assertEqual([entry["pod"] for entry in by_gang["pods"]], ["team/waits"])
        self.assertIn("there is no pod other", self.plugin("explain", "pod", "other", "-n", _TEAM, code=1))

    def test_doctor_finds_what_is_missing_and_what_is_planted(self):
        before = self.findings()
        found = {name for name, check in before.items() if check["verdict"] == "fail"}
        self.assertEqual(found, {"extender_not_ready", "nobody_leads", "webhook_missing"},
                         "nothing but a daemon was installed")
        self.assertEqual(before["relabelled_metrics"]["verdict"], "ok", "without Prometheus' operator nothing relabels")
        self.cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": _TEAM},
                            "spec": {"hard": {"requests.nvidia.com/gpu": "4"}}})
        self.cluster.kubectl("annotate", "namespace", _TEAM, "crossover.dev/mode=Off")
        self.publish(withheld="another device plugin gives it out, as nvidia.com/gpu", healthy=False,
                     noTurns="pod team/a takes no part: the library is not in it")
        after = self.findings()
        planted = {name for name in after if after[name]["verdict"] != before[name]["verdict"]}
        self.assertEqual(planted, {"quota_without_slots", "mistyped_switches", "two_owners", "missing_preload"})
        self.publish()
        self.cluster.kubectl("delete", "quota", "q", "--namespace", _TEAM)
        self.cluster.kubectl("annotate", "namespace", _TEAM, "crossover.dev/mode-")
        self.assertEqual({n: c["verdict"] for n, c in self.findings().items()},
                         {n: c["verdict"] for n, c in before.items()}, "the control")

    def test_doctor_asks_for_no_daemon_where_the_daemon_set_leaves_a_node_out(self):
        """The doctor must not report a daemon as missing on a node that the DaemonSet leaves out, such as one that
        another plugin manages. The node here has no kubelet, so the DaemonSet starts no pod on it."""
        self.assertEqual(self.findings()["daemon_missing"]["verdict"], "ok", "before")
        self.cluster.apply({"apiVersion": "v1", "kind": "Node",
                            "metadata": {"name": "inference", "labels": {"nvidia.com/gpu.present": "true"}}})
        self.addCleanup(self.cluster.kubectl, "delete", "node", "inference")
        found = self.findings()["daemon_missing"]
        self.assertEqual(found["verdict"], "fail", "the control")
        self.assertIn("node inference", found["seen"])
        self.addCleanup(self.cluster.kubectl, "delete", "daemonset", "crossover-deviceplugin", "--namespace", _HOME)
        for values, verdict in (((), "fail"), (("deviceplugin.nodeSelector.pool=training",), "ok")):
            self.cluster.apply(find(objects(*values), "DaemonSet", "crossover-deviceplugin"))
            self.assertEqual(self.findings()["daemon_missing"]["verdict"], verdict)

    def lease(self, home):
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": "crossover-scheduler", "namespace": home},
                "spec": {"holderIdentity": "extender_1", "renewTime": now}}

    def test_doctor_looks_at_leases_and_at_what_scrapes(self):
        """It must run after the test above, which needs a cluster without the operator of Prometheus."""
        self.cluster.kubectl("apply", "--server-side", "--filename", str(definitions()))
        self.cluster.wait_for("customresourcedefinition", "podmonitors.monitoring.coreos.com", true("Established"))
        monitor = find(objects(*MONITORING), "PodMonitor", "crossover-deviceplugin")
        self.cluster.apply(monitor)
        self.cluster.apply(self.lease(_HOME))
        verdicts = {name: check["verdict"] for name, check in self.findings().items()}
        self.assertEqual((verdicts["relabelled_metrics"], verdicts["split_leadership"]), ("ok", "ok"), "the control")
        del monitor["spec"]["podMetricsEndpoints"][0]["honorLabels"]
        self.cluster.apply(monitor)
        self.cluster.apply(self.lease(_OTHER_HOME))
        found = self.findings()
        self.assertEqual(found["relabelled_metrics"]["verdict"], "warn")
        self.assertEqual(found["split_leadership"]["verdict"], "fail")
        for home in (_HOME, _OTHER_HOME):
            self.assertIn(f"the Lease {home}/crossover-scheduler", str(found["split_leadership"]))
            self.cluster.kubectl("delete", "lease", "crossover-scheduler", "--namespace", home)

    def test_a_pod_that_only_bears_the_daemons_name_is_not_asked(self):
        pod = restricted("impostor", _IMAGE, ["/usr/bin/crossover-deviceplugin", "--version"], self.node)
        pod["metadata"].update(namespace=_TEAM, labels=program("deviceplugin"))
        self.cluster.apply(pod)
        self.assertEqual(len(json.loads(self.plugin("top", "-o", "json"))["nodes"]), 1)

    def test_advise_adds_up_what_runs_would_have_saved(self):
        run = {"beganAt": "2020-01-01T00:00:00Z", "lastSeen": "2020-01-01T00:00:00Z", "gpus": 2,
               "computeSeconds": 0.02, "exposedSeconds": 0.012}
        hours = {"beganAt": self.ago(5), "lastSeen": self.ago(1)}
        for name in ("a", "b"):
            profile = {"apiVersion": "crossover.dev/v1alpha1", "kind": "JobProfile",
                       "metadata": {"name": name, "namespace": _TEAM}}
            self.cluster.apply({**profile, "spec": {"key": name}})
            status = {"runs": [{**run, "gang": f"{_TEAM}/{name}-old"}, {**run, **hours, "gang": f"{_TEAM}/{name}"}]}
            self.cluster.kubectl("patch", "jobprofile", name, "--namespace", _TEAM, "--subresource", "status",
                                 "--type", "merge", "--patch", json.dumps({"status": status}))
        advice = json.loads(self.plugin("advise", "-o", "json"))["namespaces"][0]
        self.assertEqual(advice["namespace"], _TEAM)
        self.assertAlmostEqual(advice["gpuHours"], 16)
        self.assertAlmostEqual(advice["savedGPUHours"], 16 * (1 - 1 / (0.98 * 1.6)), places=6)
        self.assertIn(f"{_TEAM}/a and {_TEAM}/b: 1.57x", self.plugin("advise", "-n", _TEAM, "-o", "wide"))

    def test_the_cluster_is_described_for_the_planner(self):
        self.publish()
        description = self.plugin("servers", "--inner-gbit", "2400")
        self.assertEqual(json.loads(description),
                         {"servers": [{"name": self.node, "gpus": 1, "speed": 1.0, "inner_gbit": 2400.0}]})
        blocks = self.cluster.directory / "blocks.csv"
        blocks.write_text("forward_ms,backward_ms\n1,2\n1,2\n", encoding="utf-8")
        planned = subprocess.run([self.build.cli, "plan", "pipeline", "--cluster", "-", "--profile", blocks, "--stages",
                                  "1", "--microbatches", "2", "-o", "json"], input=description, capture_output=True,
                                 text=True, check=True)
        self.assertEqual(json.loads(planned.stdout)["stages"][0]["server"], self.node)
        refused = self.plugin("servers", "--node", "nowhere", code=2)
        self.assertIn(f'expected a node of "{self.node}", got nowhere', refused)

    @staticmethod
    def ago(hours):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(_START - 3600 * hours))

    def test_kubectl_completes_it(self):
        script = self.cluster.directory / "kubectl_complete-crossover"
        script.write_text(self.plugin("completion"), encoding="utf-8")
        script.chmod(0o755)
        complete = self.kubectl("__complete", "crossover", "e", path=script.parent).stdout
        self.assertEqual(complete.splitlines()[0], "explain")
        formats = self.kubectl("__complete", "crossover", "top", "-o", "", path=script.parent).stdout
        self.assertEqual(formats.split()[:4], ["text", "wide", "json", "yaml"])
        self.assertEqual(self.kubectl("__complete", "crossover", "top", "--node", "", path=script.parent)
                         .stdout.split()[0], self.node)

    def test_who_may_not_look_is_told_so(self):
        """The user may see neither nodes nor webhooks, as a user of namespaces."""
        self.assertIn("orbidden", self.plugin("doctor", code=1, user=self.node))
        self.cluster.kubectl("create", "clusterrolebinding", "looks", "--clusterrole=view",
                             f"--user=system:node:{self.node}")
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrolebinding", "looks")
        findings = self.findings(user=self.node)
        self.assertEqual(findings["daemon_not_ready"]["verdict"], "ok")
        self.assertEqual(findings["webhook_missing"]["verdict"], "unknown")
        self.assertIn("orbidden", findings["webhook_missing"]["seen"])

    def keeps_a_secret(self):
        """Returns a pod with a secret in each place where the API server accepts one."""
        pod = restricted("secretive", _IMAGE, ["/usr/bin/crossover", _SECRET])
        pod["metadata"].update(namespace=_TEAM, labels=MARKED | {"team": _SECRET}, annotations={
            "example.com/token": _SECRET, "kubectl.kubernetes.io/last-applied-configuration": f'"{_SECRET}"',
            "kubernetes.io/hostname": "known"})
        ask = {"httpGet": {"port": 80, "path": f"/{_SECRET}",
                           "httpHeaders": [{"name": "Authorization", "value": _SECRET}]}}
        pod["spec"]["containers"][0] |= {
            "env": [{"name": "TOKEN", "value": _SECRET}], "args": [_SECRET], "livenessProbe": ask,
            "lifecycle": {"postStart": ask, "preStop": {"exec": {"command": [_SECRET]}}}}
        pod["spec"]["nodeSelector"] = {"team": _SECRET}
        pod["spec"]["volumes"] = [{"name": "v", "csi": {"driver": "csi.example.com",
                                                        "volumeAttributes": {"password": _SECRET}}}]
        return pod

    def test_a_bundle_has_it_all_and_no_secrets(self):
        self.cluster.apply(self.keeps_a_secret())
        self.addCleanup(self.cluster.kubectl, "delete", "pod", "secretive", "--namespace", _TEAM)
        self.assertIn(_SECRET, str(self.cluster.kubectl.get("pod", "secretive", _TEAM)), "the control")
        folder = self.cluster.directory / "bundle"
        self.plugin("doctor", "--bundle", str(folder), code=1)
        texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
        self.assertLessEqual({"report.json", "nodes.json", f"{_HOME}.daemon.top.json"}, set(texts))
        self.assertIn("listening on", texts[f"{_HOME}.daemon.log"])
        self.assertIn("checks", json.loads(texts[f"{_HOME}.daemon.doctor.json"]), "though it finds faults")
        self.assertNotIn("--standalone", texts["programs.json"])
        self.assertEqual([name for name, text in texts.items() if _SECRET in text], [])
        pod = next(each for each in json.loads(texts["pods.json"]) if each["metadata"]["name"] == "secretive")
        self.assertEqual(pod["metadata"]["annotations"]["kubernetes.io/hostname"], "known")


if __name__ == "__main__":
    unittest.main()
