"""Provides a cluster as a context: it runs on entry, and is gone without a trace on exit."""

import contextlib
import os
import subprocess
from pathlib import Path

from testing.cluster.rig import images, namespaces, removal, servers, versions
from testing.cluster.rig.api import Api
from testing.cluster.rig.containerd import PAUSE_IMAGE
from testing.cluster.rig.control_plane import ControlPlane
from testing.cluster.rig.families import IPV4
from testing.cluster.rig.kubectl import Kubectl, true
from testing.cluster.rig.node import Node
from testing.cluster.rig.programs import Programs
from testing.cluster.rig.setup import SERVER, Setup
from testing.cluster.rig.versions import Refused
from testing.processes import Failed, Processes, dying_with_parent


class Cluster:
    """A Cluster is a Kubernetes of `nodes` nodes in namespaces of its own. Start it in a thread that outlives it: when
    a thread ends, the kernel ends the processes that it started.

    service_routing  run kube-proxy, so that pods reach all services at their addresses, not only the API server's
    extenders        those of the scheduler, as in KubeSchedulerConfiguration
    api_server, controllers  their flags, besides the usual ones
    prefix           of the cluster's name, which marks all that belongs to it
    kubelet          settings of KubeletConfiguration, which override those of configuration.py
    kinds            {number: class of the node}, for nodes that are no Node
    kube_version, containerd_version  versions, or their beginnings such as "1.31", instead of KUBE_VERSION and
                     CONTAINERD_VERSION or the installer's defaults. Versions unknown to versions.py are Refused
    families         of the addresses of nodes, pods and services (families.py); the first is the primary one
    """

    def __init__(self, nodes=2, service_routing=False, extenders=(), kubelet=None, kube_version=None,
                 containerd_version=None, api_server=(), controllers=(), prefix=removal.PREFIX, kinds=None,
                 families=(IPV4,)):
        self._numbers = range(1, nodes + 1)
        self._service_routing = service_routing
        self._extenders, self._api_server, self._controllers = extenders, api_server, controllers
        self._kubelet = kubelet or {}
        self._kinds = kinds or {}
        self._kube_version = kube_version
        self._containerd_version = containerd_version
        self._prefix = prefix
        self._families = families
        self._stack = contextlib.ExitStack()
        self.image_environment = {}  # for images that are made after it was set

    def __enter__(self):
        if os.geteuid() != 0:
            raise Refused("a cluster needs root, for namespaces, mounts and cgroups")
        programs = Programs(self._kube_version, self._containerd_version)
        with contextlib.ExitStack() as stack:
            self._set_up(programs, stack)
            try:
                self._start()
            except Failed:
                self.setup.check()  # a daemon that has ended says more than the timeout
                raise
            self._stack = stack.pop_all()
        return self

    def __exit__(self, failure=None, *exc):
        with self._stack:
            if failure is None:
                self.setup.check()

    @property
    def address(self):
        """Returns the address of the control plane. Programs that `start` starts listen there, for the API server, the
        scheduler and pods."""
        return IPV4.control_plane

    @property
    def server(self):
        """Returns the API server's URL, by an address that the control plane and the nodes reach."""
        return SERVER

    @property
    def has_cdi(self):
        """Tells whether containers can be given CDI devices."""
        return versions.has_cdi(self.setup.programs.containerd_version)

    def enter(self, command, kinds=("net", "mount", "pid")):
        """Returns the command line that runs `command` beside the control plane, in these namespaces of the cluster."""
        return self._namespace.enter(command, kinds)

    def start(self, name, command, env=None):
        """Starts a program of a test, such as a webhook, beside the control plane. Its output goes to
        `directory`/log/NAME.log."""
        self.processes.start(name, self.enter(command), env=env, log=self.setup.logs / f"{name}.log")

    @property
    def network_pid(self):
        """Returns a process in the cluster's network namespace, for `connected_in` of api.py."""
        return self._namespace.pid

    def api(self, token=None):
        """Returns a client of the API server that needs no kubectl. It acts as the token's account, or as the
        administrator."""
        return Api(self._namespace.pid, self.setup.certificates, token)

    def kubeconfig_of_account(self, name, namespace):
        """Writes a kubeconfig by which a program acts as a service account that exists, and returns its path."""
        token = self.kubectl("create", "token", name, "--namespace", namespace).strip()
        return self.setup.certificates.kubeconfig_of_token(name, self.server, token)

    def wait_for_servers(self, *urls, deadline_s=120.0):
        """Blocks until all URLs answer GET with 200. They are asked from beside the control plane."""
        servers.wait_for(self.setup, self, urls, deadline_s)

    def namespace(self, name, enforce="restricted"):
        """Creates a namespace with a level of Pod Security, and waits for its service account: pods cannot be made
        before."""
        self.kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": name, "labels": {"pod-security.kubernetes.io/enforce": enforce}}})
        self.kubectl.wait_for("serviceaccount", "default", bool, name)

    def image_of(self, name, files, command=(), nodes=None, provided=()):
        """Makes an image of programs and files (images.py) on all nodes, or on some. Its tag must not be "latest"."""
        archive = self.directory / f"{name.replace('/', '_')}.tar"
        images.image_of(archive, name, files, command, provided=provided, environment=self.image_environment)
        self.load_image(archive, nodes)
        archive.unlink()

    def load_image(self, archive, nodes=None):
        running = [subprocess.Popen(dying_with_parent(node.load_image(archive)), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for node in nodes or self.nodes]
        for process in running:
            output, _ = process.communicate()
            if process.returncode != 0:
                raise Failed(f"image {archive}: {output.decode(errors='replace').strip()[-500:]}")

    def kill_api_server(self):
        self.processes.stop(["kube-apiserver"], 0.0)

    def start_api_server(self):
        """Starts the API server again and blocks until it is ready."""
        self.control_plane.start_api_server(self._api_server)
        self.wait_for_servers(f"{SERVER}/readyz")

    def _set_up(self, programs, stack):
        self.directory = removal.new_directory(self._prefix)
        # The first callback runs last. It removes what the others leave, and removes everything if this process is
        # killed.
        stack.callback(removal.Janitor(self.directory).finish)
        self.processes = stack.enter_context(Processes(self.directory.name))
        self.patience = max(self._kinds[number].patience if number in self._kinds else 1 for number in self._numbers)
        self.setup = Setup(self.directory, programs, self.processes, self._kubelet, self._families)
        stack.callback(self._save_logs)
        stack.enter_context(self.setup.supervisor)
        self._namespace = namespaces.cluster(self.setup.mark, self.setup.pause, self._families)
        stack.callback(self._namespace.end)
        self.nodes = [self._kinds.get(number, Node)(number, self.setup) for number in self._numbers]
        for node in self.nodes:
            stack.callback(node.end)
        self.control_plane = ControlPlane(self.setup, self._namespace)
        self.kubectl = Kubectl(self.setup, self._namespace, self.patience)
        self.apply, self.get = self.kubectl.apply, self.kubectl.get
        self.wait_for, self.wait_for_any = self.kubectl.wait_for, self.kubectl.wait_for_any
        self.logs, self.events = self.kubectl.logs, self.kubectl.events
        stack.callback(self.setup.supervisor.stop)  # first: what ends from here on is not to be started again

    def _start(self):
        """Starts as much as possible at the same time, so that two cores are always busy."""
        self._namespace.wait()
        self.control_plane.start_store()
        self.setup.issue(self.nodes)
        self.control_plane.start_api_server(self._api_server)
        for node in self.nodes:
            node.begin(self._namespace)
        for node in self.nodes:
            node.wait()
        for node in self.nodes:
            node.wire(self._namespace, [number for number in self._numbers if number != node.number])
        for node in self.nodes:
            node.start_containerd()
        for node in self.nodes:
            node.wait_for_containerd()
        self.wait_for_servers(f"{SERVER}/livez/ping")
        for node in self.nodes:
            node.start_kubelet()
        images.image_of(self.directory / "pause.tar", PAUSE_IMAGE, {"/pause": self.setup.pause}, ["/pause"])
        self.load_image(self.directory / "pause.tar")
        self.wait_for_servers(f"{SERVER}/readyz")
        # The controllers start after the API server is ready. They end if they find it unready for ten seconds, and on
        # a busy machine it takes longer than that.
        self.control_plane.start_controllers(self._controllers)
        self.control_plane.start_scheduler(self._extenders)
        if self._service_routing:
            self._start_proxies()
        self._wait_until_ready()

    def _start_proxies(self):
        for node in self.nodes:
            node.start_proxy()
        self.control_plane.start_proxy(self.nodes[0].name)

    def _wait_until_ready(self):
        self.wait_for_servers("https://127.0.0.1:10259/healthz")
        for place in (self, *self.nodes) if self._service_routing else ():
            servers.wait_for(self.setup, place, ["http://127.0.0.1:10256/healthz"], 60.0)
        self.setup.check()
        for node in self.nodes:
            self.wait_for("node", node.name, true("Ready"))
        self.wait_for("serviceaccount", "default", bool, "default")

    def _save_logs(self):
        """Copies all logs into the directory that CROSSOVER_CLUSTER_LOGS names, to help find out why a test failed."""
        wanted = os.environ.get("CROSSOVER_CLUSTER_LOGS")
        if wanted:
            self.setup.keep_logs(Path(wanted) / self.directory.name)
