"""What the parts of a cluster share: its directory, its programs, its certificates, its processes."""

import json
import shutil
import subprocess
from pathlib import Path

from benchmarks.processes import Failed, dying_with_parent
from tests.cluster.rig import configuration
from tests.cluster.rig.certificates import Certificates
from tests.cluster.rig.namespaces import API_SERVICE, CONTROL_PLANE
from tests.cluster.rig.supervisor import Supervisor

SERVER = f"https://{CONTROL_PLANE}:443"


class Setup:
    """Of one cluster; the mark of its processes is the name of its directory."""

    def __init__(self, directory, programs, processes, kubelet_options):
        self.directory = directory
        self.mark = directory.name
        self.programs = programs
        self.processes = processes
        self.kubelet_options = kubelet_options
        self.logs = directory / "log"
        self.logs.mkdir()
        self.pause = directory / "pause"
        self.certificates = Certificates(directory / "pki", programs.path("openssl"))
        self.supervisor = Supervisor(processes)
        subprocess.run([programs.path("gcc"), "-static", "-Os", "-o", str(self.pause),
                        str(Path(__file__).with_name("pause.c"))], check=True)

    def issue(self, nodes):
        """The certificates of the control plane and of every node: each its own identity, as in earnest."""
        servers = {"api-server": [CONTROL_PLANE, API_SERVICE, "127.0.0.1", "localhost", "kubernetes",
                                  "kubernetes.default", "kubernetes.default.svc"],
                   **{f"{node.name}-server": [node.address, node.name] for node in nodes}}
        clients = {"admin": "/O=system:masters/CN=admin", "scheduler": "/CN=system:kube-scheduler",
                   "api-server-client": "/O=system:masters/CN=kube-apiserver-kubelet-client",
                   # The controllers' own permissions are not what is tested here, and take seconds to be granted.
                   "controller-manager": "/O=system:masters/CN=system:kube-controller-manager",
                   "proxy": "/CN=system:kube-proxy",
                   **{node.name: f"/O=system:nodes/CN=system:node:{node.name}" for node in nodes}}
        self.certificates.issue(servers, clients)
        for user in clients:
            self.certificates.kubeconfig(user, SERVER)

    def kubeconfig(self, user):
        return self.certificates.directory / f"{user}.kubeconfig"

    def start(self, name, command, env=None, product=False):
        """Start a daemon of the cluster; its output goes to log/NAME.log. It is started again when it ends unasked;
        `product`: it is what is tested, and may not."""
        usual = {"PATH": self.programs.search_path, "HOME": str(self.directory)}
        self.supervisor.start(name, command, usual if env is None else env, self.logs / f"{name}.log", product)

    def start_proxy(self, node_name, address, enter, name=None):
        """kube-proxy for one network namespace."""
        name = name or f"kube-proxy-{node_name}"
        config = self.directory / f"{name}.json"
        config.write_text(json.dumps(configuration.proxy(node_name, address, self.kubeconfig("proxy"))),
                          encoding="utf-8")
        self.start(name, enter([self.programs.path("kube-proxy"), "--config", str(config), "--v", "1"]))

    def check(self):
        """Failed, with its last words, if a daemon ends again and again, or what is tested has ended."""
        self.supervisor.check()

    def run(self, command):
        """A short command of the cluster's; what it prints."""
        done = subprocess.run(dying_with_parent(command), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0:
            raise Failed(f"{Path(command[0]).name}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def keep_logs(self, directory):
        """A copy of all logs, for when a test failed."""
        shutil.copytree(self.logs, directory, dirs_exist_ok=True)
