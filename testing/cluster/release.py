"""Installs Crossover with Helm on a test cluster, from images of what was built. Software GPUs are there as a driver
installs real ones. The class has what tests do with the release."""

import json
import os
import shutil
import subprocess

from testing import logs
from testing.cluster.built_images import NAMES, BuiltImages
from testing.cluster.pods import SLOT
from testing.cluster.rig import true
from testing.cluster.rig.versions import TREE
from testing.processes import Failed, dying_with_parent
from testing.shipped import slots_per_gpu

NAMESPACE = "crossover-system"
REGISTRY = "crossover.test"
# The pods of MPS are not replaced by an upgrade, and Helm 4's own way of waiting would wait until they are.
UPGRADE_WAITS = "--wait=legacy"
_CHART = TREE / "charts/crossover"
# These settings are as the documentation has them. `values` has those of the test.
_SETTINGS = ("--set", f"deviceplugin.image.repository={REGISTRY}/crossover-deviceplugin",
             "--set", f"extender.image.repository={REGISTRY}/crossover-extender", "--set", "mps.enabled=true")
VERSION = "0.1.0"  # of the test's images
_DRIVER = "/var/lib/software-driver"  # on each node, laid out as NVIDIA's: lib64, bin
_TRACE = "/var/lib/crossover/trace.jsonl"
_SHELL = {f"/bin/{name}": f"/bin/{name}" for name in ("sh", "grep", "mkdir", "mount")}  # for the containers of MPS


class Release:
    """A Release is one release of Crossover. `gpus` are the cluster's SoftwareGpus; `prepare` installs them on its
    nodes."""

    def __init__(self, cluster, build, gpus):
        self._cluster, self._build, self._gpus = cluster, build, gpus

    def prepare(self, next_version=None):
        """Creates what an installation needs: the namespace, the images, the drivers. With `next_version` the images
        are those of docker/, and the node daemon's gets this tag, too. Else they hold only the programs and what these
        need, without a base system: that takes less time."""
        cluster, build = self._cluster, self._build
        cluster.kubectl("create", "namespace", NAMESPACE)
        cluster.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=privileged")
        if next_version:
            self._load_built(next_version)
        else:
            self.add_version(VERSION, build)
        cluster.image_of(f"{REGISTRY}/kube-scheduler:v{cluster.setup.programs.kube_version}",
                         {"/usr/bin/kube-scheduler": cluster.setup.programs.path("kube-scheduler")})
        self.install_drivers()

    def install_drivers(self):
        """Installs the software GPUs on all nodes, as a driver would be, and labels these."""
        cluster = self._cluster
        for number, node in enumerate(cluster.nodes):
            self._gpus.install(number, node)
            self._install_driver(number, node)
            cluster.kubectl("label", "node", node.name, "nvidia.com/gpu.present=true")

    def _load_built(self, next_version):
        folder = self._cluster.directory / "built"
        folder.mkdir()
        images = BuiltImages(self._build.top, REGISTRY, VERSION, folder)
        for image, tag in (*((image, VERSION) for image in NAMES), ("deviceplugin", next_version)):
            self._cluster.load_image(images.archive(image, tag))
        shutil.rmtree(folder)

    def add_daemon(self, tag, library, build=None):
        """Makes an image of the node daemon that brings this library. Its programs are those of the release, or of
        `build`."""
        build = build or self._build
        self._cluster.image_of(f"{REGISTRY}/crossover-deviceplugin:{tag}", {
            "/usr/bin/crossover-deviceplugin": build.daemon, "/usr/bin/crossover": build.cli,
            "/usr/bin/crossover-signaller": build.program("crossover-signaller"),
            "/usr/lib/crossover/libcrossover.so": library, **self._beside(library), **_SHELL})

    @staticmethod
    def _beside(library):
        """Returns the library for compressed reductions as a file of an image, if there is one beside this library."""
        shrink = library.with_name("libcrossover-shrink.so")
        return {f"/usr/lib/crossover/{shrink.name}": shrink} if shrink.exists() else {}

    def add_version(self, tag, build):
        """Makes both images of another release, from its build."""
        self._add_extender(tag, build)
        self.add_daemon(tag, build.library, build)

    def _add_extender(self, tag, build):
        self._cluster.image_of(f"{REGISTRY}/crossover-extender:{tag}",
                               {"/usr/bin/crossover-extender": build.program("crossover-extender")})

    def _install_driver(self, number, node):
        root = node.reach(_DRIVER)
        shutil.copytree(self._gpus.driver, root / "lib64")
        (root / "bin").mkdir()
        shutil.copy(self._build.program("nvidia-cuda-mps-control"), root / "bin")
        machine = self._gpus.machine.yaml(self._gpus.state / "state")
        (root / "machine.yaml").write_text(f"{machine}node: {number}\n", encoding="utf-8")

    def values(self):
        state = {"name": "software-gpus", "hostPath": {"path": str(self._gpus.state)}}
        mount = {"name": "software-gpus", "mountPath": str(self._gpus.state)}
        gpus = {"extraEnv": [{"name": "SIMGPU_CONFIG", "value": "/usr/local/nvidia/machine.yaml"}],
                "extraVolumes": [state], "extraVolumeMounts": [mount]}
        return {
            "driver": {"root": _DRIVER},
            "deviceplugin": {"image": {"tag": VERSION}, "config": {"trace_file": _TRACE, "profiles": "off"}, **gpus},
            "mps": gpus,
            "signaller": gpus,
            "extender": {"image": {"tag": VERSION}},
            "scheduler": {"image": {"repository": f"{REGISTRY}/kube-scheduler"}}}

    def helm(self, *words, values=None, check=True, timeout_s=240.0):
        """Runs helm and returns the finished process."""
        command = self._cluster.enter([self._cluster.setup.programs.path("helm"), *words], ("net",))
        if values is not None:
            home = self._cluster.directory / "helm"
            home.mkdir(exist_ok=True)
            (home / "values.json").write_text(json.dumps(values), encoding="utf-8")
            command += ["--values", str(home / "values.json")]
        done = subprocess.run(dying_with_parent(command), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False, timeout=timeout_s, env=self.environment())
        if check and done.returncode != 0:
            raise Failed(f"helm {' '.join(words)}: {done.stdout[-2000:]} {done.stderr[-3000:]}; {self.said()[-6000:]}")
        return done

    def environment(self):
        """Returns an environment in which helm, kubectl and its plugin are on the PATH and reach the cluster."""
        setup, home = self._cluster.setup, self._cluster.directory / "helm"
        programs = (str(self._build.cli), setup.programs.path("kubectl"), setup.programs.path("helm"))
        folders = map(os.path.dirname, programs)
        return {**os.environ, "PATH": ":".join([*folders, os.environ["PATH"]]),
                "KUBECONFIG": str(setup.kubeconfig("admin")), "KUBECACHEDIR": str(home / "kubectl"),
                **{f"HELM_{name}_HOME": str(home) for name in ("CACHE", "CONFIG", "DATA")}}

    def install(self, **changed):
        """Installs the release and blocks until all of it is ready. `changed` overrides what `values` returns."""
        return self._apply("install", changed)

    def upgrade(self, chart=_CHART, **changed):
        """Upgrades the release by a chart, which is the tree's unless another is given. Blocks until all that must be
        replaced has been."""
        return self._apply("upgrade", changed, UPGRADE_WAITS, chart)

    def _apply(self, verb, changed, waits="--wait", chart=_CHART):
        return self.helm(verb, "crossover", str(chart), "--namespace", NAMESPACE, waits, *_SETTINGS, "--timeout",
                         "120s", values=_merged(self.values(), changed))

    def do(self, *words, check=True):
        """Runs a verb of helm on the release, such as rollback, test or uninstall."""
        return self.helm(words[0], "crossover", *words[1:], "--namespace", NAMESPACE, check=check)

    def pods(self, component):
        return [pod for pod in self._cluster.get("pods", namespace=NAMESPACE)
                if pod["metadata"].get("labels", {}).get("app.kubernetes.io/component") == component]

    def unready(self):
        """Returns a line for each component whose pods are not as many as they must be, or not ready."""
        found = []
        for component, count in (("extender", 2), ("deviceplugin", 2), ("mps", 2)):
            pods = self.pods(component)
            waiting = [pod["metadata"]["name"] for pod in pods if not true("Ready")(pod)]
            if len(pods) != count or waiting:
                found.append(f"{component}: expected {count} ready pods, got {len(pods)}; not ready: {waiting}")
        return found

    def wait_for_slots(self):
        """Blocks until the kubelets of all nodes have all slots."""
        slots = str(slots_per_gpu() * self._gpus.machine.gpus_per_node)
        for node in self._cluster.nodes:
            self._cluster.wait_for("node", node.name, lambda each: each["status"]["allocatable"].get(SLOT) == slots)

    def trace(self, node, since_ns=0):
        """Returns the events of the node daemon since then."""
        return [event for event in logs.read_traces([node.reach(_TRACE)]) if event.t_ns > since_ns]

    def in_turns(self, rule, gangs, since_ns=0):
        """Tells whether a rule, of a trace, gangs and the UUIDs of a node's GPUs, holds on all nodes since then."""
        return all(rule(self.trace(node, since_ns), gangs, self._gpus.uuids(number))
                   for number, node in enumerate(self._cluster.nodes))

    def said(self):
        """Returns the events of the release's namespace, and the last log lines of all its pods."""
        lines = list(self._cluster.events(NAMESPACE))
        for pod in self._cluster.get("pods", namespace=NAMESPACE):
            name = pod["metadata"]["name"]
            done = self._cluster.kubectl("logs", name, "--namespace", NAMESPACE, "--all-containers", "--tail", "20",
                                         check=False)
            lines.append(f"{name}: {done.stdout[-1500:]}{done.stderr[-500:]}")
        return "\n".join(lines)


def _merged(values, changed):
    merged = dict(values)
    for key, value in changed.items():
        merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged
