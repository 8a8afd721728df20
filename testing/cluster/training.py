"""Runs training jobs on a test cluster. They are Indexed Jobs of one rank per pod, each with one slot. The test binds
the pods itself, or writes the jobs as a user would and leaves the binding to a scheduler."""

import json
from dataclasses import replace

from testing import logs, session
from testing.cluster.pods import SLOT, restricted
from testing.cluster.rig import phase

IMAGE = "crossover.test/trainer:1"
OWN_PRELOAD = {"LD_PRELOAD": "/usr/lib/own_preload.so"}  # an image's environment; the library must take nothing from it
_PORT = 29500
_INDEX = "batch.kubernetes.io/job-completion-index"
_LOG = "/out/log.jsonl"
_DATA = "/usr/share/trainer/digits.csv"


def load_image(cluster, build, data, name=IMAGE, files=(), own_preload=True):
    """Loads an image with the trainer, a shell, the test's files, and a test library that containers may preload."""
    programs = {"/usr/bin/trainer": build.trainer, "/bin/sh": "/bin/sh", "/bin/cat": "/bin/cat", _DATA: data}
    if own_preload:
        programs[OWN_PRELOAD["LD_PRELOAD"]] = build.test_library("own_preload", "tests/cluster")
    cluster.image_of(name, {**programs, **dict(files)}, provided=("libnccl.so.2",))  # the software GPU has it


def plain_digests(build, shape, mark):
    """Returns the digests of the losses of jobs of this shape with the seeds 1 and 2, as plain processes without
    Crossover and Kubernetes: each job runs alone, with short compute and fast links. `mark` names them."""
    machine = replace(shape.machine(), node_link_bytes_per_s=1e9)
    shape = replace(shape, compute_ms=1.0)
    plans = [session.Plan(machine, (shape.job("alone", seed),)) for seed in (1, 2)]
    return [session.run(build, plan, mark).job("alone").digest for plan in plans]


def _has_devices(pod):
    """Tells whether the kubelet has admitted the pod, or has refused it for good."""
    return bool(pod["status"].get("containerStatuses")) or phase("Running", "Succeeded", "Failed")(pod)


def wait_until_learnt(cluster, namespace, key, timeout_s=90.0):
    """Blocks until a profile of this key says what a run has needed. A node reports it at most every 30 s."""
    cluster.wait_for_any("jobprofiles", lambda profile: profile["spec"].get("key") == key and profile.get(
        "status", {}).get("peakMemoryBytes"), namespace, timeout_s)


class TrainingJob:
    """A TrainingJob is one job of `ranks` ranks: its Indexed Job, and the service by which ranks find the first."""

    patience_s = 120.0  # for the end of each pod

    def __init__(self, cluster, namespace, job, ranks, annotations=None, environment=None, image=IMAGE, by_hand=True):
        """With `by_hand` the pods wait for bind(). Else they ask for GPUs as any pod does, and share by annotations."""
        self._by_hand = by_hand
        self.name, self._cluster, self._namespace, self._ranks = job.name, cluster, namespace, ranks
        self._job, self._image = job, image
        self._annotations = {"crossover.dev/share": "true", **(annotations or {})}
        self._environment = environment or {}
        self.own_preloads = 0  # programs of its pods that had the image's own library loaded

    def create(self):
        for item in (self._service(), self._indexed_job()):
            self._cluster.kubectl("create", "--namespace", self._namespace, "--filename", "-", input=json.dumps(item))

    def bind(self, gpus):
        """Binds every pod as soon as it exists. `gpus` is [(node, UUID)] by rank.

        If two pods on one node must have different GPUs, the second waits until the first has its own: a kubelet does
        not say for which pod it asks.
        """
        before = {}
        for rank, (node, uuid) in enumerate(gpus):
            pod = self.pod(rank)
            if node.name in before:
                self._cluster.wait_for("pod", before[node.name], _has_devices, self._namespace)
            before[node.name] = pod["metadata"]["name"]
            assignment = json.dumps({"containers": {"main": [uuid]}})
            binding = {"apiVersion": "v1", "kind": "Binding",
                       "metadata": {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"],
                                    "annotations": {"crossover.dev/assignment": assignment}},
                       "target": {"apiVersion": "v1", "kind": "Node", "name": node.name}}
            path = f"/api/v1/namespaces/{self._namespace}/pods/{pod['metadata']['name']}/binding"
            self._cluster.kubectl("create", "--raw", path, "--filename", "-", input=json.dumps(binding))

    def bind_everywhere(self, machine):
        """Binds a rank to each GPU of a machine (testing.machine), in its order."""
        places = [machine.place(rank) for rank in range(self._ranks)]
        self.bind([(self._cluster.nodes[number], machine.uuid(number, gpu)) for number, gpu in places])

    def finish(self):
        """Waits until all pods have ended and returns the job's log. Raises AssertionError if a pod failed."""
        ranks = []
        for rank in range(self._ranks):
            name = self.pod(rank)["metadata"]["name"]
            done = self._cluster.wait_for("pod", name, phase("Succeeded", "Failed"), self._namespace,
                                          timeout_s=self.patience_s)
            said = self._cluster.logs(name, self._namespace) if done["status"].get("containerStatuses") else ""
            if done["status"]["phase"] != "Succeeded":
                raise AssertionError(f"pod {name} failed: {done['status'].get('message', '')} {said[-500:]} "
                                     f"{self._cluster.events(self._namespace, name)}")
            lines = said.splitlines()
            self.own_preloads += sum(line == "own preload was here" for line in lines)
            ranks.append(self.parse([line for line in lines if line.startswith("{")]))
        return logs.JobLog(self.name, tuple(ranks))

    def parse(self, lines):
        """Returns the log of a rank, which its pod printed in lines of JSON."""
        return logs.parse_rank_log(lines)

    def pod(self, rank):
        """Returns the pod of a rank, once the Job has made it."""
        def made(job):
            self._pods = self._cluster.get("pods", namespace=self._namespace)
            return job is not None and self._find(rank) is not None

        self._cluster.wait_for("job", self.name, made, self._namespace)
        return self._find(rank)

    def _find(self, rank):
        for pod in self._pods:
            labels = pod["metadata"].get("labels", {})
            if labels.get("batch.kubernetes.io/job-name") == self.name and labels.get(_INDEX) == str(rank):
                return pod
        return None

    def _service(self):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": self.name},
                "spec": {"selector": {"batch.kubernetes.io/job-name": self.name, _INDEX: "0"},
                         "ports": [{"port": _PORT}], "publishNotReadyAddresses": True}}

    def _indexed_job(self):
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": self.name},
                "spec": {"completions": self._ranks, "parallelism": self._ranks, "completionMode": "Indexed",
                         "backoffLimit": 3,  # keeps a failed pod for inspection
                         "template": {"metadata": {"annotations": self._annotations}, "spec": self.pod_spec()}}}

    def script(self):
        """Returns what the shell of each pod runs. It prints the log of the rank."""
        job = self._job
        flags = [f"--variant={job.variant}", f"--iterations={job.iterations}", f"--compute-ms={job.compute_ms:g}",
                 f"--gradient-bytes={job.gradient_bytes}", f"--early-bytes={job.early_bytes:g}", f"--seed={job.seed}",
                 f"--jitter-seed={job.seed}", f"--data={_DATA}", f"--log={_LOG}", *job.extra]
        return f"/usr/bin/trainer {' '.join(flags)} && cat {_LOG}"

    def pod_spec(self):
        """Returns the specification of each of the job's pods."""
        pod = restricted(self.name, self._image, ["/bin/sh", "-c", self.script()])
        spec = pod["spec"] | {"volumes": [{"name": "out", "emptyDir": {}}]}
        if self._by_hand:
            spec["schedulerName"] = "by-hand"
        address, port = self.first
        plain = {"WORLD_SIZE": str(self._ranks), "LOCAL_RANK": "0", "MASTER_ADDR": address, "MASTER_PORT": port}
        container = spec["containers"][0]
        container |= {"resources": {"limits": {SLOT if self._by_hand else "nvidia.com/gpu": "1"}},
                      "volumeMounts": [{"name": "out", "mountPath": "/out"}], "env": self.variables("RANK", plain)}
        spec["containers"] = [container]
        return spec

    def variables(self, of_index, plain):
        """Returns the variables of a pod: `of_index` has its number, `plain` is {name: value}."""
        index = {"fieldRef": {"fieldPath": f"metadata.annotations['{_INDEX}']"}}
        return [{"name": of_index, "valueFrom": index},
                *({"name": k, "value": v} for k, v in {**plain, **self._environment}.items())]

    @property
    def first(self):
        """The address and the port at which the pods find the first of them."""
        return f"$({self.name.upper().replace('-', '_')}_SERVICE_HOST)", str(_PORT)
