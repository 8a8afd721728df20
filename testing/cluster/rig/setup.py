"""Holds what the parts of a cluster share: its directory, programs, certificates and processes."""

import json
import shutil
import subprocess
from pathlib import Path

from testing.cluster.rig import configuration
from testing.cluster.rig.certificates import Certificates
from testing.cluster.rig.families import EVERY_FAMILY, IPV4
from testing.cluster.rig.supervisor import Supervisor
from testing.processes import Failed, dying_with_parent

SERVER = IPV4.server()  # for clients beside the control plane


class Setup:
    """A Setup belongs to one cluster. The name of its directory marks the cluster's processes."""

    def __init__(self, directory, programs, processes, kubelet_options, families):
        self.directory = directory
        self.mark = directory.name
        self.programs = programs
        self.processes = processes
        self.kubelet_options = kubelet_options
        self.families = families  # of the addresses of nodes, pods and services; the first is the primary one
        self.logs = directory / "log"
        self.logs.mkdir()
        self.pause = directory / "pause"
        self.certificates = Certificates(directory / "pki", programs.path("openssl"))
        self.supervisor = Supervisor(processes)
        subprocess.run([programs.path("gcc"), "-static", "-Os", "-o", str(self.pause),
                        str(Path(__file__).with_name("pause.c"))], check=True)

    def issue(self, nodes):
        """Issues the certificates of the control plane and of every node. Each has its own identity, as in a real
        cluster."""
        own = [address for family in EVERY_FAMILY for address in (family.control_plane, family.api_service)]
        servers = {"api-server": [*own, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default",
                                  "kubernetes.default.svc"],
                   **{f"{node.name}-server": [node.address, node.name] for node in nodes}}
        clients = {"admin": "/O=system:masters/CN=admin", "scheduler": "/CN=system:kube-scheduler",
                   "api-server-client": "/O=system:masters/CN=kube-apiserver-kubelet-client",
                   # The controllers' own permissions are not tested here, and it takes seconds to grant them.
                   "controller-manager": "/O=system:masters/CN=system:kube-controller-manager",
                   "proxy": "/CN=system:kube-proxy",
                   **{node.name: f"/O=system:nodes/CN=system:node:{node.name}" for node in nodes}}
        self.certificates.issue(servers, clients)
        on_nodes = {"proxy", *(node.name for node in nodes)}
        for user in clients:
            self.certificates.kubeconfig(user, self.families[0].server() if user in on_nodes else SERVER)

    def kubeconfig(self, user):
        return self.certificates.directory / f"{user}.kubeconfig"

    def start(self, name, command, env=None, product=False):
        """Starts a daemon of the cluster, whose output goes to log/NAME.log. It is started again when it ends unasked.
        `product` marks a part of Crossover: a test fails if it ends unasked."""
        usual = {"PATH": self.programs.search_path, "HOME": str(self.directory)}
        self.supervisor.start(name, command, usual if env is None else env, self.logs / f"{name}.log", product)

    def start_proxy(self, node_name, address, enter, name=None):
        """Starts kube-proxy for one network namespace."""
        name = name or f"kube-proxy-{node_name}"
        config = self.directory / f"{name}.json"
        config.write_text(json.dumps(configuration.proxy(node_name, address, self.kubeconfig("proxy"),
                                                        self.families)),
                          encoding="utf-8")
        self.start(name, enter([self.programs.path("kube-proxy"), "--config", str(config), "--v", "1"]))

    def check(self):
        """Raises Failed, with its last log lines, if a daemon ends again and again or a part of Crossover has ended."""
        self.supervisor.check()

    def run(self, command):
        """Runs a short command of the cluster and returns what it prints."""
        done = subprocess.run(dying_with_parent(command), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0:
            raise Failed(f"{Path(command[0]).name}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def keep_logs(self, directory):
        """Copies all logs into a directory, for a test that failed."""
        shutil.copytree(self.logs, directory, dirs_exist_ok=True)
