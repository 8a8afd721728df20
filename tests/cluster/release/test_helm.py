"""Tests a release of the chart. Jobs take turns by the annotation `share` and a profile key that an earlier run has
filled. An upgrade and a rollback happen while jobs run. At the end Crossover is uninstalled, and what may stay is
checked.
"""

import json
import os
import time
import unittest
from dataclasses import replace
from pathlib import Path

from testing import pairs
from testing.cluster.gang_lives import job_of
from testing.cluster.pods import SLOT, restricted, with_slots
from testing.cluster.prometheus import PLAIN, Prometheus
from testing.cluster.release import NAMESPACE, REGISTRY, Release, UPGRADE_WAITS, VERSION
from testing.cluster.rig import Cluster, gone, phase
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import OWN_PRELOAD, TrainingJob, load_image, plain_digests, wait_until_learnt
from testing.commands import Build
from testing.processes import Failed
from tests.cluster.monitoring import panels
from tests.cluster.monitoring.kubectl_plugin import kubectl
from tests.cluster.release.documented import Documented, names_for
from tests.cluster.security.webhook_case import Load, pod_that_says
from tests.cluster.turns import turn_orders
from tests.docs.commands import commands
from tests.process.demo.leftovers import until

_TEAM = "team"
_SHELL = "crossover.test/shell:1"
_NEXT = "0.1.1"  # another tag of the node daemon's image, as a later release has it
_KEY = "digits"  # the profile key of all jobs here: the first is measured alone, those after it share
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_LEARNT_WITHIN_S = 90.0
_TURNS_WITHIN_S = 90.0
_MARK = "crossover-helm-test"
# The guard measures which way is faster. On a busy machine it may rightly let the jobs run side by side for seconds.
_WITHOUT_GUARD = {"config": {"guard": "off"}}
_LONG = (700, 2000, 6000)  # iterations of jobs that must outlast an upgrade and a rollback; the first that do count
# Uninstalling leaves these, by its own documentation (charts/crossover/README.md).
_STAYS = {"customresourcedefinition/gpunodes.crossover.dev", "customresourcedefinition/jobprofiles.crossover.dev",
          "secret/crossover-admission", "lease/crossover-scheduler"}
_DEFINITION, _FIELD = "gpunodes.crossover.dev", "modeLimitedBy"  # an optional field of its status
_STOPPED = "job/crossover-uninstall"  # stays where an uninstall stopped, until one succeeds
_FILES_STAY = {"/var/lib/crossover", "/run/crossover"}
_KINDS = ("clusterrole", "clusterrolebinding", "role", "rolebinding", "serviceaccount", "configmap", "secret", "lease",
          "service", "daemonset", "deployment", "job", "poddisruptionbudget", "networkpolicy",
          "mutatingwebhookconfiguration", "validatingadmissionpolicy", "validatingadmissionpolicybinding",
          "customresourcedefinition")


class Helm(unittest.TestCase):
    """Its tests are the steps of one story, in the order of their names."""

    @classmethod
    def setUpClass(cls):
        cls.build = build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        machine = _SHAPE.machine()
        # A job within one node is to communicate, too.
        machine = replace(machine, gpu_link_bytes_per_s=machine.node_link_bytes_per_s)
        cls.gpus = SoftwareGpus(cls.cluster, machine, build.gpu_libraries)
        cls.release = Release(cls.cluster, build, cls.gpus)
        cls.release.prepare(_NEXT)
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))
        cls.cluster.image_of(_SHELL, {"/bin/sleep": "/bin/sleep"})
        cls.release.install(deviceplugin=_WITHOUT_GUARD)

    def run_jobs(self, names, shape=_SHAPE, meanwhile=None):
        """Runs jobs of these names at the same time and returns their logs. The second has a library of its own
        preloaded. `meanwhile` is called while they run."""
        ranks = self.gpus.machine.ranks
        jobs = [TrainingJob(self.cluster, _TEAM, shape.job(name, seed), ranks, by_hand=False,
                            annotations={"crossover.dev/profile-key": _KEY},
                            environment=OWN_PRELOAD if seed == 2 else None) for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        if meanwhile:
            for job in jobs:
                self.cluster.wait_for("pod", job.pod(0)["metadata"]["name"], phase("Running"), _TEAM)
            meanwhile()
        found = [job.finish() for job in jobs]
        for job in jobs[1:]:
            self.assertGreaterEqual(job.own_preloads, ranks, "the image's own LD_PRELOAD")
        return found

    def digests(self, iterations):
        return plain_digests(self.build, replace(_SHAPE, iterations=iterations), _MARK)

    def pods_of(self, jobs):
        return [pod for pod in self.cluster.get("pods", namespace=_TEAM) if job_of(pod) in jobs]

    def test_1_all_of_it_is_ready(self):
        self.assertEqual(self.release.unready(), [])
        self.release.wait_for_slots()
        for node in self.cluster.nodes:
            self.cluster.wait_for("gpunode", node.name, lambda n: n and n["status"]["sharing"]["kind"] == "mps")

    def test_2_helm_test(self):
        said = self.release.do("test").stdout
        self.assertRegex(said, "Phase: +Succeeded")
        self.assertNotIn("Failed", said)
        self.assertEqual(self.try_webhook("it-answers"), "Succeeded")
        self.cluster.kubectl("label", "namespace", "default", "crossover.dev/webhook=ignore")
        self.assertEqual(self.try_webhook("it-does-not"), "Failed", "the control: no API server asks it there")
        self.cluster.kubectl("label", "namespace", "default", "crossover.dev/webhook-")

    def try_webhook(self, name):
        """Returns the phase in which a pod ends that does once what `helm test` does."""
        command = ["crossover-extender", "--try-webhook", "default"]
        pod = restricted(name, f"{REGISTRY}/crossover-extender:{VERSION}", command, serviceAccountName="default")
        self.cluster.kubectl("create", "clusterrolebinding", name, "--clusterrole", "edit", "--serviceaccount",
                             f"{NAMESPACE}:default")
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod))
        return self.cluster.wait_for("pod", name, phase("Succeeded", "Failed"), NAMESPACE)["status"]["phase"]

    def test_3_two_jobs_take_turns(self):
        alone = self.run_jobs(["alone"])[0]
        wait_until_learnt(self.cluster, _TEAM, _KEY)
        self.assertEqual(alone.digest, self.digests(_SHAPE.iterations)[0])
        self.assertFalse(self.turns_alternate({f"{_TEAM}/alone"}), "the control: one job has none to take turns with")
        names = ["alpha", "beta"]
        jobs = self.run_jobs(names)
        self.assertEqual(jobs[0].digest, alone.digest, "the losses of the job that was alone before")
        self.assertNotEqual(jobs[1].digest, alone.digest, "the control")
        for pod in self.pods_of(names):  # they name no budget: it comes from what was measured
            self.assertGreater(int(pod["metadata"]["annotations"]["crossover.dev/status-gpu-memory"]), 0)
        gangs = {f"{_TEAM}/{name}" for name in names}
        self.assertTrue(self.turns_alternate(gangs), self.release.said())
        self.assertTrue(self.release.in_turns(turn_orders.hide, gangs), self.release.said())

    def test_4_an_upgrade_and_a_rollback_beneath_running_jobs_cost_no_step(self):
        for iterations in _LONG:
            names = [f"over-{iterations}", f"under-{iterations}"]
            beneath = []
            jobs = self.run_jobs(names, replace(_SHAPE, iterations=iterations),
                                 lambda names=names, beneath=beneath: beneath.append(self.replace_all(names)))
            since_ns, lasted = beneath[0]
            # The losses are compared even where the jobs ended first.
            self.assertEqual([job.digest for job in jobs], self.digests(iterations),
                             "no step is lost, none is different")
            if lasted:
                break
        else:
            self.fail(f"jobs of {_LONG[-1]} iterations ended before the rollback had")
        self.assertNotEqual(jobs[0].digest, self.digests(iterations - 1)[0], "the control: a step less shows")
        self.assertTrue(self.turns_alternate({f"{_TEAM}/{name}" for name in names}, since_ns), "they go on after it")

    def replace_all(self, names):
        """Replaces all pods of ours but those of MPS, twice. Returns when that was done, and whether the jobs still ran
        then."""
        mps, first = self.uids("mps"), self.uids("extender", "deviceplugin")
        pod = pod_that_says("dry", {"share": "true"})
        load = Load(self.cluster, lambda api: api.create(f"/api/v1/namespaces/{_TEAM}/pods?dryRun=All", pod))
        self.addCleanup(load.end)
        changed = {"podAnnotations": {"example.org/restarted": "yes"}}
        self.release.upgrade(deviceplugin={**_WITHOUT_GUARD, **changed, "image": {"tag": _NEXT}}, extender=changed)
        second = self.uids("extender", "deviceplugin")
        self.assertFalse(first & second)
        self.release.do("rollback", "1", UPGRADE_WAITS)
        self.assertFalse(second & self.uids("extender", "deviceplugin"))
        load.end()
        self.assertGreater(load.done, 20)
        self.assertEqual(load.failures, [], "the webhook answers throughout")
        self.assertEqual(mps, self.uids("mps"), "its clients would end with it")
        return time.monotonic_ns(), all(phase("Running")(pod) for pod in self.pods_of(names))

    def uids(self, *components):
        return {pod["metadata"]["uid"] for component in components for pod in self.release.pods(component)
                if not pod["metadata"].get("deletionTimestamp")}

    def turns_alternate(self, gangs, since_ns=0):
        return self.release.in_turns(turn_orders.alternate, gangs, since_ns)

    def test_5_commands_of_the_documentation(self):
        names = ["first", "second"]
        prometheus, began = Prometheus(self.cluster), time.time()
        pods = [*self.release.pods("deviceplugin"), *self.release.pods("extender")]
        prometheus.start(pods)
        prometheus.look_plainly_at(pods)
        self.addCleanup(self.remove_jobs, names)
        for seed, name in enumerate(names, 1):
            # The second asks for compressed reductions, and runs plain: the GPUs here load no kernels for them.
            asked = {"crossover.dev/shrink": "q8"} if name == "second" else {}
            TrainingJob(self.cluster, _TEAM, replace(_SHAPE, iterations=_LONG[-1]).job(name, seed),
                        self.gpus.machine.ranks, by_hand=False,
                        annotations={"crossover.dev/profile-key": _KEY, **asked}).create()
        end = time.monotonic() + _TURNS_WITHIN_S
        while not self.turns_alternate({f"{_TEAM}/{name}" for name in names}):
            self.assertLess(time.monotonic(), end, self.release.said())
            time.sleep(0.2)
        folder = self.cluster.directory / "documented"
        folder.mkdir()
        pod = self.pods_of(["second"])[0]
        documented = Documented(self.cluster, self.release, folder, names_for(self.release, pod, folder))
        said = documented.run_all()
        name = pod["metadata"]["name"]
        for command, words in (("kubectl crossover top", f"{_TEAM}/second"), ("kubectl crossover doctor", "ok"),
                               ("kubectl crossover explain pod NAME -n NAMESPACE", f"{_TEAM}/{name}"),
                               ("kubectl crossover explain gang NAME -n NAMESPACE", f"{_TEAM}/{name}"),
                               ("kubectl crossover timeline --node NODE -- --follow", "first"),
                               ("kubectl describe pod NAME -n NAMESPACE", name)):
            self.assertIn(words, said[command], command)
        self.release.upgrade()  # takes back what others changed; the first of so many revisions may not be kept
        self.labels_are_those_of_the_pod_monitors(prometheus, began)
        self.panels_have_something_to_show(prometheus, began)
        self.labels_that_are_not_honoured_are_found(prometheus)
        self.assertTrue((folder / "bundle").is_dir())
        with self.assertRaises(Failed, msg="the control"):
            documented.run("kubectl crossover explain pod no-such-pod -n NAMESPACE")
        # This comes last, because the daemons' pods have other names afterwards.
        restart, status = (f"kubectl rollout {verb} -n crossover-system daemonset/crossover-deviceplugin"
                           for verb in ("restart", "status"))
        self.assertIn(restart, [command.text for command in commands()])
        before = self.uids("deviceplugin")
        documented.run(restart)
        documented.run(status)
        self.assertFalse(before & self.uids("deviceplugin"))

    def labels_are_those_of_the_pod_monitors(self, prometheus, since):
        daemons = 'up{job="crossover-deviceplugin"}'
        self.assertEqual(set(prometheus.values_of("job", "up", since)), {
            "crossover-deviceplugin", "crossover-extender", "crossover-scheduler"})
        self.assertEqual(set(prometheus.values_of("node", daemons, since)), {node.name for node in self.cluster.nodes})

    def panels_have_something_to_show(self, prometheus, since):
        """Asserts that each panel has had something to show since then. They are queried as Grafana does it, both with
        the labels that an operator adds and without."""
        def shown():
            empty[:] = [(cluster, panel) for cluster in ("", PLAIN) for panel in panels.empty(
                prometheus, since, cluster=[cluster], namespace=[_TEAM]) - set(panels.MAY_BE_EMPTY)]
            return not empty
        empty = []
        self.assertTrue(until(shown, _LEARNT_WITHIN_S), f"panels with nothing to show: {empty}")
        self.assertLess(set(panels.MAY_BE_EMPTY), panels.panels())
        self.assertEqual(panels.empty(prometheus, since, "job.json", namespace=["no-such-namespace"]),
                         {panel for panel in panels.panels() if panel[0] == "job.json"}, "the control")

    def labels_that_are_not_honoured_are_found(self, prometheus):
        """The alert finds them as soon as its expression holds."""
        alert = 'ALERTS{alertname="CrossoverLabelsNotHonoured"}'
        self.assertEqual(prometheus.query(alert), [], "the control: they are honoured")
        prometheus.dishonour(self.release.pods("deviceplugin"))
        nodes = {node.name for node in self.cluster.nodes}
        self.assertTrue(until(lambda: {labels["node"] for labels, _ in prometheus.query(alert)} == nodes,
                              _LEARNT_WITHIN_S), prometheus.query(alert))
        prometheus.dishonour([])

    def remove_jobs(self, names):
        self.cluster.kubectl("delete", "jobs", *names, "--namespace", _TEAM, "--wait=false")
        for pod in self.pods_of(names):
            self.cluster.wait_for("pod", pod["metadata"]["name"], gone, _TEAM)

    def test_6_observed_jobs_tell_what_sharing_would_save(self):
        """Two jobs run on GPUs of their own at the same time, and the daemon does not gate them."""
        names = ["looked-at", "looked-on"]
        self.assertNotIn("looked", self.advice("-o", "wide"), "the control")
        self.release.upgrade(deviceplugin={"config": {"mode": "observe"}})
        self.wait_for_daemons("observe")
        jobs = [TrainingJob(self.cluster, _TEAM, _SHAPE.job(name, seed), self.gpus.machine.gpus_per_node, by_hand=False,
                            annotations={"crossover.dev/share": "exclusive"}) for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        for job in jobs:
            job.finish()
        pair = f"{_TEAM}/looked-at and {_TEAM}/looked-on"
        end = time.monotonic() + _LEARNT_WITHIN_S
        while pair not in (said := self.advice("-o", "wide")):
            self.assertLess(time.monotonic(), end, (said, self.cluster.get("jobprofiles", namespace=_TEAM), [
                node["status"].get("jobs") for node in self.cluster.get("gpunodes")], self.release.said()))
            time.sleep(0.5)
        saved = json.loads(self.advice("-n", _TEAM, "-o", "json"))["namespaces"][0]["savedGPUHours"]
        self.assertGreater(saved, 0)
        self.release.do("rollback", UPGRADE_WAITS)
        self.wait_for_daemons("enforce")

    def wait_for_daemons(self, mode):
        """Blocks until the daemons are in this mode. They read a configuration some seconds after Helm has written
        it."""
        for node in self.cluster.nodes:
            self.cluster.wait_for("gpunode", node.name, lambda n: (
                n["status"]["mode"], n["status"]["sharing"]["kind"]) == (mode, "mps"))

    def advice(self, *words):
        return kubectl(self.cluster, self.build, "crossover", "advise", *words).stdout

    def test_7_uninstall_stops_while_pods_hold_slots(self):
        pod = with_slots("holds", _SHELL, ["/bin/sleep", "1000"])
        pod["metadata"]["annotations"] = {"crossover.dev/share": "true", "crossover.dev/gang": "holds",
                                          "crossover.dev/gang-size": "1"}
        self.cluster.kubectl("create", "--namespace", _TEAM, "--filename", "-", input=json.dumps(pod))
        self.cluster.wait_for("pod", "holds", phase("Running"), _TEAM)
        self.assertNotIn(_STOPPED, self.ours(), "the control")
        self.uninstall_stops()
        self.remove_as_documented("kubectl --namespace crossover-system delete job ")
        self.assertNotIn(_STOPPED, self.ours())
        self.uninstall_stops()
        with self.assertRaisesRegex(Failed, "has no deployed releases", msg="the control"):
            self.release.upgrade()
        last = json.loads(self.release.do("history", "--output", "json").stdout)[-1]
        self.assertEqual(last["status"], "uninstalling")
        self.release.do("rollback", str(last["revision"]), UPGRADE_WAITS)
        self.brings_a_field_back(lambda: self.release.upgrade(uninstall={"force": True}))
        self.uninstall(stays=_STAYS | {_STOPPED})  # that Job stays until an uninstall that is not forced
        self.runs_on("holds")
        self.release.install()
        self.runs_on("holds")
        self.cluster.kubectl("delete", "pod", "holds", "--namespace", _TEAM, "--now")
        self.cluster.wait_for("pod", "holds", gone, _TEAM)

    def runs_on(self, name):
        """Asserts that a pod runs on without a restart. It uses no GPU, so it is no client of the MPS that ended."""
        status = self.cluster.get("pod", name, _TEAM)["status"]
        restarts = [container["restartCount"] for container in status["containerStatuses"]]
        self.assertEqual((status["phase"], restarts), ("Running", [0]))

    def brings_a_field_back(self, what):
        """Asserts that an action adds a field to a definition that comes from a chart before that field."""
        fields = self.fields()
        self.apply_definition_without(_FIELD)
        self.assertEqual(fields - self.fields(), {_FIELD}, "the control")
        what()
        self.assertEqual(self.fields(), fields)

    def fields(self):
        """Returns the fields in the status of GPUNodes, as the API server knows them."""
        return set(_status_of(self.cluster.get("crd", _DEFINITION)))

    def apply_definition_without(self, field):
        """Applies the definition without a field. The field manager is that of the present definition, as if an older
        chart's Helm had applied it."""
        found = json.loads(self.cluster.kubectl("get", "crd", _DEFINITION, "--output", "json", "--show-managed-fields"))
        owner, = {entry["manager"] for entry in found["metadata"]["managedFields"] if "f:spec" in entry["fieldsV1"]}
        del _status_of(found)[field]
        found["metadata"] = {key: found["metadata"][key] for key in ("name", "labels", "annotations")}
        del found["status"]
        self.cluster.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager", owner, "--filename", "-",
                             input=json.dumps(found))

    def uninstall_stops(self):
        done = self.release.do("uninstall", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr, r"team/holds on node-[12]: 1 slot")
        self.assertEqual(len(self.release.pods("deviceplugin")), 2, "all of it is there")
        self.assertIn(_STOPPED, self.ours())

    def remove_as_documented(self, *beginnings):
        """Runs the commands of the documentation that begin with these words."""
        documented = Documented(self.cluster, self.release, self.cluster.directory, {})
        for words in beginnings:
            found = [command.text for command in commands() if command.text.startswith(words)]
            self.assertTrue(found, words)
            for text in found:
                documented.run(text)

    def test_8_uninstall_leaves_what_is_stated(self):
        for node in self.cluster.nodes:
            self.cluster.wait_for("gpunode", node.name, lambda n: not n["status"].get("usedSlots"))
        self.assertGreater(self.ours(), _STAYS, "the control")
        self.assertGreater(self.files(), _FILES_STAY, "the control")
        self.uninstall()
        self.assertEqual(self.files(), _FILES_STAY)
        for node in self.cluster.nodes:
            self.cluster.wait_for("node", node.name, lambda n: n["status"]["allocatable"].get(SLOT, "0") == "0")
        kept = self.objects()
        self.assertEqual({kind for kind, _, _ in kept}, {"GPUNode", "JobProfile"})
        self.brings_a_field_back(self.release.install)
        self.assertEqual(kept - self.objects(), set(), "those from before")
        self.uninstall()
        self.remove_as_documented("kubectl delete crd ", "kubectl --namespace crossover-system delete secret/")
        self.assertEqual(self.ours(), set(), "the commands that are said to remove it do")

    def uninstall(self, stays=_STAYS):
        self.release.do("uninstall", "--wait")
        for component in ("extender", "deviceplugin", "mps"):  # Helm waits for its own objects, not for pods
            for pod in self.release.pods(component):
                self.cluster.wait_for("pod", pod["metadata"]["name"], gone, NAMESPACE)
        self.assertEqual(self.ours(), stays)

    def objects(self):
        """Returns the objects of our custom kinds."""
        return {(item["kind"], item["metadata"]["name"], item["metadata"]["uid"])
                for kind, namespace in (("gpunodes", None), ("jobprofiles", _TEAM))
                for item in self.cluster.get(kind, namespace=namespace)}

    def files(self):
        """Returns our files on the nodes: all whose name contains "crossover", in the folders where programs keep such
        files."""
        return {f"{place}/{file.name}" for node in self.cluster.nodes
                for place in ("/run", "/etc/cdi", "/var/run/cdi", "/var/lib", "/var/lib/kubelet/device-plugins")
                if node.reach(place).is_dir() for file in node.reach(place).iterdir() if "crossover" in file.name}

    def ours(self):
        found = set()
        for kind in _KINDS:
            names = self.cluster.kubectl("get", kind, "--all-namespaces", "--output", "name").split()
            found |= {f"{kind}/{name.split('/', 1)[1]}" for name in names if "crossover" in name}
        return found


def _status_of(definition):
    """Returns the schemas of the status fields."""
    return definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]


if __name__ == "__main__":
    unittest.main()
