"""Tests what the chart renders, for each kind of installation and each version of Kubernetes."""

import itertools
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from testing import rendering
from testing.chart import INSTALLATIONS, VERSIONS, find, objects, pod_templates

_CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "MutatingWebhookConfiguration",
                 "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
_NODE_AGENTS = {"crossover-deviceplugin", "crossover-mps", "crossover-signaller"}
_LABELS = {"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component",
           "app.kubernetes.io/version", "app.kubernetes.io/part-of", "app.kubernetes.io/managed-by", "helm.sh/chart"}
_NOTE = 'echo "${0##*/} $*" >>"$LOG"'  # makes a program log that it ran, and its arguments


def put_program(folder, name, then):
    """Puts a program of that name into a folder, which does `then`."""
    program = Path(folder) / name
    program.write_text(f"#!/bin/sh\n{then}\n", encoding="utf-8")
    program.chmod(0o755)


def started(mounted, refused="nothing", values=(), unknown="nothing", status=1, deaf=0):
    """Runs the script of the MPS container with stand-ins for its programs. Returns (the calls of the programs, what
    it prints). Mounts with the word `refused` in their arguments fail, and control daemons with the option `unknown` do
    with `status`. The first `deaf` tries to end one fail. `values` are of the chart."""
    made = objects("mps.enabled=true", "mps.shmSize=2g", *values)
    container = pod_templates(made)["crossover-mps"]["containers"][0]
    size = next(each["value"] for each in container["env"] if each["name"] == "SHM_SIZE")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        for name, then in (("mkdir", ""), ("rm", ""), ("grep", f"exit {0 if mounted else 1}"),
                           ("sleep", ""), ("timeout", 'shift; exec "$@"'),
                           ("nvidia-cuda-mps-control",
                            f'{_NOTE}; case " $* " in *" {unknown} "*) exit {status};; "  ") echo >>"$LOG".tries\n'
                            f'tries=0; while read -r _; do tries=$((tries + 1)); done <"$LOG".tries\n'
                            f'[ $tries -gt {deaf} ];; esac'),
                           ("mount", f'{_NOTE}; case "$*" in *{refused}*) exit 32; esac')):
            put_program(folder, name, then)
        environment = {"PATH": folder, "LOG": str(log), "SHM_SIZE": size, "CUDA_MPS_PIPE_DIRECTORY": "/a/pipe"}
        done = subprocess.run(["/bin/sh", "-c", container["command"][2]], capture_output=True, text=True, check=False,
                              env=environment)
        return log.read_text(encoding="utf-8").splitlines(), done.stdout + done.stderr


def logs_after(starts):
    """Runs the script of the MPS container so many times, with one /tmp, beside a control daemon that keeps a log as
    NVIDIA's does: with -d in a file. Returns {path in /tmp: lines} of what lies there then."""
    made = objects("mps.enabled=true", "mps.multiUser=true")
    container = pod_templates(made)["crossover-mps"]["containers"][0]
    logs = next(each["value"] for each in container["env"] if each["name"] == "CUDA_MPS_LOG_DIRECTORY")
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder) / "tmp"
        tmp.mkdir()
        for name, then in (("mkdir", 'case "$2" in */tmp/*) exec /bin/mkdir "$@"; esac'), ("rm", 'exec /bin/rm "$@"'),
                           ("grep", ""), ("mount", ""), ("sleep", ""), ("timeout", 'shift; exec "$@"'),
                           ("nvidia-cuda-mps-control",
                            '[ "$1" != -d ] || echo >>"$CUDA_MPS_LOG_DIRECTORY/control.log"')):
            put_program(folder, name, then)
        script = re.sub(r"(?<![\w/])/tmp\b", str(tmp), container["command"][2])
        environment = {"PATH": folder, "SHM_SIZE": "1g", "CUDA_MPS_PIPE_DIRECTORY": "/a/pipe",
                       "CUDA_MPS_LOG_DIRECTORY": re.sub(r"^/tmp\b", str(tmp), logs)}
        for _ in range(starts):
            subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True, env=environment)
        return {str(path.relative_to(tmp)): path.read_text(encoding="utf-8").count("\n")
                for path in tmp.rglob("*") if path.is_file()}


def notes(*values):
    """Returns the notes that Helm prints after an installation."""
    words = [rendering.helm(), "install", "crossover", str(rendering.CHART), "--dry-run=client"]
    for value in (*rendering.images(), *values):
        words += ["--set", value]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(words, capture_output=True, text=True, check=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": home})
    return done.stdout.partition("\nNOTES:\n")[2]


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = {(name, version): objects(*values, kube_version=version)
                    for (name, values), version in itertools.product(INSTALLATIONS.items(), VERSIONS)}

    def each(self):
        for (name, version), items in self.made.items():
            with self.subTest(name, version=version):
                yield items

    def test_each_object_is_there_once_with_its_labels(self):
        for items in self.each():
            keys = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in items]
            self.assertEqual(len(keys), len(set(keys)))
            for item in items:
                metadata = item["metadata"]
                self.assertLessEqual(_LABELS, set(metadata["labels"]), metadata["name"])
                if item["kind"] not in _CLUSTER_WIDE:
                    self.assertIn(metadata["namespace"], ("crossover-system", "kube-system", "default"))

    def test_selectors_never_change(self):
        for items in self.each():
            for kind in ("DaemonSet", "Deployment"):
                for item in (item for item in items if item["kind"] == kind):
                    selector = item["spec"]["selector"]["matchLabels"]
                    self.assertEqual(set(selector), {"app.kubernetes.io/name", "app.kubernetes.io/instance",
                                                     "app.kubernetes.io/component"})
                    labels = item["spec"]["template"]["metadata"]["labels"]
                    self.assertLessEqual(selector.items(), labels.items())

    def test_what_pods_have_besides(self):
        """The daemon and the extender get the same labels, annotations and variables. Users cannot change the labels by
        which pods are selected."""
        keys = "podLabels.team", "podAnnotations.team", "extraEnv[0].name"
        items = objects(*(f"{part}.{key}=x" for part in ("deviceplugin", "extender") for key in keys))
        for kind, name in (("DaemonSet", "crossover-deviceplugin"), ("Deployment", "crossover-extender")):
            spec = find(items, kind, name)["spec"]
            metadata, first = spec["template"]["metadata"], spec["template"]["spec"]["containers"][0]
            self.assertEqual((metadata["labels"]["team"], metadata["annotations"]["team"]), ("x", "x"))
            self.assertIn({"name": "x"}, first["env"])
            self.assertLessEqual(spec["selector"]["matchLabels"].items(), metadata["labels"].items())

    def test_all_but_the_node_agents_are_restricted(self):
        for items in self.each():
            for name, pod in pod_templates(items).items():
                if name in _NODE_AGENTS:
                    continue
                self.assertTrue(pod["securityContext"]["runAsNonRoot"], name)
                self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"}, name)
                for volume in pod.get("volumes", ()):
                    self.assertNotIn("hostPath", volume, name)
                for key in ("hostPID", "hostIPC"):
                    self.assertNotIn(key, pod, name)
                for container in pod["containers"]:
                    self.assertEqual(container["securityContext"], {
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]}}, name)

    def test_images_have_a_version(self):
        for items in self.each():
            for pod in pod_templates(items).values():
                for container in pod["containers"]:
                    self.assertRegex(container["image"], r":v?[0-9]+\.[0-9]+\.[0-9]+$")

    def test_a_digest_counts_more_than_a_tag(self):
        digest = "sha256:" + "0" * 64
        pod = pod_templates(objects(f"extender.image.digest={digest}", "extender.image.tag=one"))["crossover-extender"]
        self.assertEqual(pod["containers"][0]["image"], f"registry.example/crossover-extender@{digest}")

    def test_notes_say_which_images_stay_what_they_are(self):
        digest = "sha256:" + "0" * 64
        said = notes(f"extender.image.digest={digest}", f"mps.image.digest={digest}")  # the second has no repository
        self.assertIn("Named by digest: extender.image.digest. ", said)
        self.assertNotIn("digest", notes(), "the control")

    def test_rules_without_metrics_are_told(self):
        rules, monitor = (f"monitoring.{part}.enabled=true" for part in ("rules", "podMonitor"))
        self.assertIn("CrossoverNobodyLeads\n   fires", notes(rules))
        self.assertNotIn("CrossoverNobodyLeads", notes(rules, monitor), "the control")

    def test_a_test_leaves_nothing_whatever_becomes_of_it(self):
        """The test's output is printed before its objects are deleted."""
        hooks = [item for item in self.made["defaults", "1.36.3"]
                 if item["metadata"].get("annotations", {}).get("helm.sh/hook") == "test"]
        self.assertEqual({item["kind"] for item in hooks}, {"ServiceAccount", "Role", "RoleBinding", "Job"})
        for item in hooks:
            policy = item["metadata"]["annotations"]["helm.sh/hook-delete-policy"]
            self.assertEqual(set(policy.split(",")), {"before-hook-creation", "hook-succeeded", "hook-failed"})
        job = find(hooks, "Job", "crossover-test")["metadata"]["annotations"]
        self.assertEqual(job["helm.sh/hook-output-log-policy"], "hook-failed")

    def test_the_scheduler_is_of_the_clusters_version(self):
        for version, tag in (("1.31.0", "v1.31.0"), ("1.33.5-gke.1162000", "v1.33.5")):
            pod = pod_templates(self.made["defaults", version])["crossover-extender"]
            self.assertEqual(pod["containers"][1]["image"], f"registry.k8s.io/kube-scheduler:{tag}")

    def test_pods_are_where_their_images_run(self):
        """Values that say more about nodes come on top, and take precedence."""
        for items in self.each():
            for name, pod in pod_templates(items).items():
                self.assertEqual(pod["nodeSelector"], {"kubernetes.io/os": "linux"}, name)
        pods = pod_templates(objects("mps.enabled=true", "signaller.enabled=true", "deviceplugin.config.transport=ipc",
                                     "arch=amd64", "extender.nodeSelector.pool=control",
                                     "deviceplugin.nodeSelector.kubernetes\\.io/arch=arm64"))
        of_agents = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}
        of_others = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "pool": "control"}
        self.assertGreater(set(pods), _NODE_AGENTS)
        for name, pod in pods.items():
            self.assertEqual(pod["nodeSelector"], of_agents if name in _NODE_AGENTS else of_others, name)

    def test_hooks_run_on_the_extenders_nodes(self):
        """A hook must find a node even where the extender's pods are kept apart."""
        affinity = "extender.affinity.nodeAffinity.required", "extender.affinity.podAntiAffinity.required"
        pods = pod_templates(objects(*(f"{each}=x" for each in affinity), "extender.tolerations[0].operator=Exists"))
        extender = pods["crossover-extender"]
        self.assertIn("podAntiAffinity", extender["affinity"], "the control")
        for hook in ("crossover-test", "crossover-uninstall"):
            self.assertEqual(pods[hook]["affinity"], {"nodeAffinity": extender["affinity"]["nodeAffinity"]}, hook)
            self.assertEqual(pods[hook]["tolerations"], extender["tolerations"], hook)
        self.assertNotIn("affinity", pod_templates(self.made["defaults", "1.36.3"])["crossover-test"])

    def test_null_is_none(self):
        """A null drops a default."""
        dropped = ("extender.nodeSelector=null", "deviceplugin.nodeSelector=null", "extender.affinity=null")
        for name, pod in pod_templates(objects(*dropped)).items():
            self.assertEqual(pod["nodeSelector"], {"kubernetes.io/os": "linux"}, name)

    def test_one_daemon_on_a_node(self):
        for items in self.each():
            update = find(items, "DaemonSet", "crossover-deviceplugin")["spec"]["updateStrategy"]
            self.assertEqual(update["rollingUpdate"]["maxSurge"], 0)

    def test_the_folder_on_the_host_is_the_same_everywhere(self):
        for (name, version), items in self.made.items():
            used, other = "/var/lib/crossover", "/home/kubernetes/bin/crossover"
            if name == "a driver's folder":
                used, other = other, used
            with self.subTest(name, version=version):
                config = yaml.safe_load(find(items, "ConfigMap", "crossover-deviceplugin")["data"]["node.yaml"])
                self.assertEqual((config["node"]["host_directory"], config["profiles"]), (used, f"{used}/profiles"))
                pod = pod_templates(items)["crossover-deviceplugin"]
                self.assertIn({"name": "state", "mountPath": used}, pod["containers"][0]["volumeMounts"])
                self.assertNotIn(other, str(items))

    def test_mps_is_not_ended_by_an_upgrade(self):
        items = self.made["mps and monitoring", "1.36.3"]
        self.assertEqual(find(items, "DaemonSet", "crossover-mps")["spec"]["updateStrategy"], {"type": "OnDelete"})
        for name in ("defaults", "cert-manager"):
            self.assertNotIn("crossover-mps", pod_templates(self.made[name, "1.36.3"]))

    def test_signallers_are_not_ended_by_an_upgrade_and_are_no_clients_of_mps(self):
        items = self.made["signals", "1.36.3"]
        self.assertEqual(find(items, "DaemonSet", "crossover-signaller")["spec"]["updateStrategy"],
                         {"type": "OnDelete"})
        container = pod_templates(items)["crossover-signaller"]["containers"][0]
        self.assertEqual(container["image"], "signals:0.1.1")
        self.assertEqual(container["args"], ["--each-gpu", "2", "--socket", "/run/crossover/arbiter/arbiter.sock",
                                             "--no-mps", "/no-mps"])
        self.assertIn({"name": "no-mps", "mountPath": "/no-mps", "readOnly": True}, container["volumeMounts"])
        self.assertNotIn("CUDA_MPS_PIPE_DIRECTORY", {variable["name"] for variable in container["env"]})
        self.assertNotIn("nvidia.com/gpu", str(container["resources"]))
        for name in ("defaults", "mps and monitoring"):
            self.assertNotIn("crossover-signaller", pod_templates(self.made[name, "1.36.3"]))

    def test_mps_has_the_size_of_now(self):
        """The size also applies to a file system that is already mounted. MPS starts even if that one is too full for
        the new size."""
        anew = "mount -t tmpfs -o size=2g,mode=1777 crossover-mps /run/crossover/mps/shm"
        again = "mount -t tmpfs -o remount,size=2g crossover-mps /run/crossover/mps/shm"
        bound, starts = "mount --bind /run/crossover/mps/shm /dev/shm", "nvidia-cuda-mps-control -f"
        self.assertEqual(started(mounted=False), ([anew, bound, starts], ""))
        self.assertEqual(started(mounted=True), ([again, bound, starts], ""))
        ran, said = started(mounted=True, refused="remount")
        self.assertEqual(ran, [again, bound, starts])
        self.assertIn("cannot be made 2g (mps.shmSize)", said)
        self.assertEqual(started(mounted=True, refused="bind")[0], [again, bound], "the control: nothing starts")

    def test_mps_serves_all_users_by_the_option_that_the_driver_knows(self):
        def control(**more):
            return [call for call in started(True, **more)[0] if call.startswith("nvidia-cuda-mps-control")]
        every, program = {"values": ("mps.multiUser=true",)}, "nvidia-cuda-mps-control"
        tried = f"{program} -d -multiuser-server"
        self.assertEqual(control(**every), [tried, f"{program} ", f"{program} -f -multiuser-server"])
        self.assertEqual(control(**every, deaf=2), [tried, *[f"{program} "] * 3, f"{program} -f -multiuser-server"])
        self.assertIn("does not end", started(True, **every, deaf=99)[1])
        self.assertIn("by its option -multiuser-server", started(True, **every)[1])
        self.assertEqual(control(**every, unknown="-multiuser-server"),
                         [tried, f"{program} -d -M", f"{program} ", f"{program} -f -M"])
        neither = {**every, "unknown": '-multiuser-server "*|*" -M'}
        self.assertEqual(control(**neither), [tried, f"{program} -d -M"], "no control daemon stays")
        self.assertIn("expected a driver of CUDA 12.5 or newer", started(True, **neither)[1])
        hung = {**every, "unknown": "-d", "status": 124}
        self.assertEqual(control(**hung), [tried, f"{program} -f -multiuser-server"], "it was not refused")
        self.assertIn("the trial ended with status 124", started(True, **hung)[1])
        self.assertEqual(control(), [f"{program} -f"])

    def test_the_log_of_mps_fills_no_volume(self):
        """A pod is evicted whose emptyDir is full, and its clients end with MPS. In the foreground the log is the
        container's output (referee.test_daemon). What the trial of an option leaves is as much after each start."""
        self.assertEqual(logs_after(1), {"try/control.log": 1}, "the control: a trial leaves a log")
        self.assertEqual(logs_after(3), logs_after(1))

    def test_under_mps_shm_is_the_nodes_and_large(self):
        def shm(*values):
            config = find(objects(*values), "ConfigMap", "crossover-extender")["data"]["extender.yaml"]
            return yaml.safe_load(config)["webhook"].get("shm")
        self.assertIsNone(shm())
        self.assertEqual(shm("mps.enabled=true"), "node")
        self.assertEqual(shm("mps.enabled=true", "extender.config.webhook.shm=pod"), "pod")
        self.assertIsNone(shm("mps.enabled=true", "deviceplugin.config.node.sharing=timeslice"))
        slices = ("mps.enabled=true", "deviceplugin.config.node.sharing=timeslice")
        named = "deviceplugin.config.configurations.some.node"
        self.assertEqual(shm(*slices, f"{named}.sharing=mps"), "node")
        self.assertIsNone(shm(*slices, f"{named}.slots_per_gpu=3"), "it shares as the others do")
        container = pod_templates(objects("mps.enabled=true"))["crossover-mps"]["containers"][0]
        self.assertIn({"name": "SHM_SIZE", "value": "50%"}, container["env"])

    def test_the_webhook_s_annotations(self):
        aks = {"admissions.enforcer/disabled": "true"}
        for name, more in (("defaults", {}),
                           ("cert-manager", {"cert-manager.io/inject-ca-from": "crossover-system/crossover-admission",
                                             "other": "x"})):
            webhook = find(self.made[name, "1.36.3"], "MutatingWebhookConfiguration", "crossover-admission")
            self.assertEqual(webhook["metadata"]["annotations"], aks | more)

    def test_a_budget_where_there_is_another(self):
        kinds = {name: {item["kind"] for item in self.made[name, "1.36.3"]} for name in INSTALLATIONS}
        self.assertIn("PodDisruptionBudget", kinds["defaults"])
        self.assertNotIn("PodDisruptionBudget", kinds["cert-manager"], "of a single replica")

    def test_definitions_outlive_the_release(self):
        items = self.made["defaults", "1.36.3"]
        for name in ("gpunodes.crossover.dev", "jobprofiles.crossover.dev"):
            definition = find(items, "CustomResourceDefinition", name)
            self.assertEqual(definition["metadata"]["annotations"], {"helm.sh/resource-policy": "keep"})
        self.assertNotIn("CustomResourceDefinition", {item["kind"] for item in self.made["own certificates", "1.36.3"]})

    def test_who_is_trusted(self):
        """The extender writes the webhook's trust bundle where it made the certificate itself. With other certificates
        it may not."""
        for name, secret in (("defaults", None), ("cert-manager", "crossover-admission-cert-manager"),
                             ("own certificates", "mine")):
            items = self.made[name, "1.36.3"]
            rules = find(items, "ClusterRole", "crossover-admission")["rules"]
            writes = any("mutatingwebhookconfigurations" in rule["resources"] for rule in rules)
            self.assertEqual(writes, secret is None, name)
            config = yaml.safe_load(find(items, "ConfigMap", "crossover-extender")["data"]["extender.yaml"])
            self.assertEqual("certificate_file" in config.get("webhook", {}), secret is not None)
            volumes = {volume["name"]: volume for volume in pod_templates(items)["crossover-extender"]["volumes"]}
            self.assertEqual(volumes.get("certificate", {}).get("secret", {}).get("secretName"), secret)
            configuration = find(items, "MutatingWebhookConfiguration", "crossover-admission")
            self.assertEqual("caBundle" in configuration["webhooks"][0]["clientConfig"], name == "own certificates")

    def test_the_namespace_is_the_releases(self):
        """Names within expressions must use the release's namespace, too."""
        for file in (rendering.CHART / "templates").rglob("*"):
            if file.is_file():
                self.assertNotIn("crossover-system", file.read_text(encoding="utf-8"), file.name)

    def test_the_domain_stands_in_one_place(self):
        for file in (rendering.CHART / "templates").rglob("*.yaml"):
            text = re.sub(r"^\s*#.*$", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            self.assertNotRegex(text, r"crossover\.dev(?!iceplugin)", file.name)


if __name__ == "__main__":
    unittest.main()
