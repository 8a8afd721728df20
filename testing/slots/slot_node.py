"""Runs a node without a cluster: the real node daemon between a kubelet's real device manager and a simulated API
server."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from testing.machine import Machine
from testing.processes import Failed, Processes, dying_with_parent
from testing.slots.device_manager import DeviceManager
from testing.slots.pod_server import PodServer
from testing.slots.slot_pods import RESOURCE

_MARK = "crossover-slots"
_PATIENCE_S = 30.0
_LOOK_S = 0.01
# A kubelet's directory has a fixed path, so the node has a mount namespace with a /var/lib of its own.
_KEEPER = "mount -t tmpfs tmpfs /var/lib && mkdir -p /var/lib/kubelet/device-plugins && echo ready && exec sleep inf"
_SAMPLE = re.compile(r"^(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


class SlotNode:
    """A context manager. For `shown` see PodServer. `settings` overrides those of the daemon's node. `daemon` is the
    file of the node daemon, if it is not the build's."""

    def __init__(self, build, gpus=8, slots=3, shown=lambda pod: pod, settings=(), daemon=None):
        self._build = build
        self._daemon = daemon or build.daemon
        # No container starts here, so there is no specification to find. Older daemons do not know the setting.
        self._cdi = {} if daemon else {"cdi": "given"}
        self._settings = dict(settings)
        self._machine = Machine(nodes=1, gpus_per_node=gpus)
        self._slots = slots
        self.pods = PodServer(shown)
        self.manager = None
        self._processes = Processes(_MARK)
        self._stack = contextlib.ExitStack()
        self._started = 0

    @property
    def gpus(self):
        return [self._machine.uuid(0, gpu) for gpu in range(self._machine.gpus_per_node)]

    @property
    def slots_per_gpu(self):
        return self._slots

    @property
    def all_slots(self):
        return self._slots * len(self.gpus)

    def __enter__(self):
        with self._stack:
            self._directory = Path(tempfile.mkdtemp(prefix="crossover-slots-"))
            self._stack.callback(shutil.rmtree, self._directory, ignore_errors=True)
            self._keep()
            self._stack.enter_context(self.pods)
            self._stack.enter_context(self._processes)
            self._stack.callback(lambda: self.manager and self.manager.kill())
            self._configure()
            self.start_beside()
            self.start_manager()
            self.manager.synced()
            self.start_daemon()
            self.wait_until_served()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def start_beside(self):
        """Starts what the daemon finds on the node when it begins: nothing here."""

    def start_daemon(self):
        self._started += 1
        environment = {"LD_LIBRARY_PATH": str(self._build.gpu_libraries), "SIMGPU_NODE": "0",
                       "SIMGPU_CONFIG": str(self._directory / "machine.yaml")}
        command = [str(self._daemon), "--config", str(self._directory / "node.json")]
        self._processes.start("daemon", self._enter(command), env=environment, log=self._log)

    def kill_daemon(self):
        self._processes.signal("daemon", signal.SIGKILL)
        self._processes.stop(["daemon"])

    def start_manager(self, running=()):
        """Starts a kubelet. The caller must then tell it which pods run and which are new."""
        self.manager = DeviceManager(self._enter, self._directory / "device-manager.log", _MARK, running)

    def wait_until_served(self):
        """Waits until the daemon knows the pods, and the kubelet the slots."""
        self._wait(lambda: self.metrics().get("crossover_pods_known") == 1, "the daemon does not know the pods")
        self.manager.wait_for_slots(RESOURCE, self.all_slots, _PATIENCE_S)

    def wait_for_pods(self, count):
        """Waits until the daemon has heard of everything that happened to pods until now."""
        self._wait(lambda: self.metrics().get("crossover_node_pods") == count, f"the daemon does not know {count} pods")

    def metrics(self):
        """Returns the sums of the daemon's metric families by name; {} while it does not answer."""
        port = re.search(r"metrics on port (\d+)", self.said())
        if not port:
            return {}
        sums = {}
        with contextlib.suppress(OSError), urllib.request.urlopen(
                f"http://127.0.0.1:{port.group(1)}/metrics", timeout=10.0) as answer:
            for name, value in _SAMPLE.findall(answer.read().decode()):
                sums[name] = sums.get(name, 0.0) + float(value)
        return sums

    def said(self):
        """Returns what the daemon has logged since it was last started."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def _log(self):
        return self._directory / f"daemon-{self._started}.log"

    def _wait(self, so, otherwise):
        end = time.monotonic() + _PATIENCE_S
        while not so():
            if time.monotonic() > end or not self._processes.alive("daemon"):
                raise Failed(f"{otherwise}: {self._processes.last_words('daemon')}")
            time.sleep(_LOOK_S)

    def _keep(self):
        command = dying_with_parent(["unshare", "--mount", "--", "sh", "-c", _KEEPER])
        keeper = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True)
        self._stack.callback(keeper.stdout.close)
        self._stack.callback(keeper.wait)
        self._stack.callback(keeper.kill)
        first = keeper.stdout.readline().strip()
        if first != "ready":
            raise Failed(f"namespaces: {first or 'unshare ended without a word'}; this needs root")
        self._enter = lambda words: ["nsenter", "--target", str(keeper.pid), "--mount", "--", *words]

    def _configure(self):
        machine = self._machine.yaml(self._directory / "state")
        (self._directory / "machine.yaml").write_text(machine, encoding="utf-8")
        (self._directory / "token").write_text("none\n", encoding="ascii")
        (self._directory / "node.json").write_text(json.dumps({  # which is YAML, too
            "socket": {"path": str(self._directory / "arbiter" / "arbiter.sock")},
            "api": {"socket": "off"}, "profiles": "off", "metrics": {"listen": "127.0.0.1:0"},
            "node": {"name": "node", "metrics_readers": "everybody", "library": str(self._build.library),
                     "slots_per_gpu": self._slots, "sharing": "timeslice",
                     "host_directory": str(self._directory / "host"), **self._cdi,
                     "api_server": {"server": self.pods.url, "ca_file": str(self._directory / "token"),
                                    "token_file": str(self._directory / "token")},
                     **self._settings}}), encoding="utf-8")
