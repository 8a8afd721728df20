"""Starts processes of a pod in the ways of launchers that hand on no environment, and lets each take all GPU memory
that it gets. The pod has a budget, which the real node daemon knows from the pod itself. Needs root.

`play` does that; `wrong_with` judges one process. The latter is pure.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from testing.cluster.rig import cgroups, versions
from testing.processes import Failed, dying_with_parent
from testing.slots.slot_node import SlotNode
from testing.slots.slot_pods import MAIN, Container, Pod

_BUDGET_MIB = 64
_MOST_MIB = 4 * _BUDGET_MIB
_ANNOTATION = "crossover.dev/gpu-memory"
_FOLDER = Path(__file__).resolve().parents[1] / "strangers"
_SYSTEM = versions.cache() / "cluster-debian-12"
_SSHD = _SYSTEM / "usr/sbin/sshd"
_PATIENCE_S = 60.0
_TOLD = f"its pod may have {_BUDGET_MIB << 20} bytes on each GPU"
# The software GPU needs these; a real GPU needs none of them.
_KEPT = '"SIMGPU_CONFIG=$SIMGPU_CONFIG" "SIMGPU_NODE=$SIMGPU_NODE" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"'
# Runs a command where the node daemon has put its socket and the file that preloads the library, as in a container:
# "$0" is the folder of the socket, and "$1" one in place of /etc, with that file.
_IN_A_POD = ('mount --make-rprivate / && mount --bind "$1" /etc && mount -t tmpfs none /run && mkdir /run/crossover && '
             'mount --bind "$0" /run/crossover && shift && exec "$@"')
_FILES_OF_ETC = ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "profile", "localtime")
# Each is a shell command that starts the program whose words are $@. BUILD stands for the programs of the build, HERE
# for the folder of scripts, PYTHON for the interpreter, and SYSTEM for the folder where the programs are that the tests
# have without installing them.
LAUNCHERS = {
    "env_i": f'env -i {_KEPT} "$@"',
    "login_shell": f'env -i {_KEPT} HOME=/ sh -l -c \'exec "$0" "$@"\' "$@"',
    "bash_exec_c": f'bash -c \'exec -c env {_KEPT} "$@"\' bash "$@"',
    "sshd": 'HERE/through_sshd.sh SYSTEM "$@"',
    "nohup_xargs": f'printf "%s\\0" "$@" | nohup xargs -0 env -i {_KEPT}',
    "start_stop_daemon": f'env -i {_KEPT} "$(command -v start-stop-daemon)" --start --pidfile /run/none '
                         '--startas "$1" -- "$2" "$3"',
    "perl": 'perl HERE/launch.pl "$@"',
    "clearenv": 'BUILD/stranger_clears "$@"',
    "python_execve": 'PYTHON -B HERE/launches.py execve "$@"',
    "python_thread": 'PYTHON -B HERE/launches.py thread "$@"',
}


class _Node(SlotNode):
    """A node with one pod that has a budget, as a context manager. `library` is what the pod's processes preload."""

    def __init__(self, build, library):
        self._name = f"crossover-strangers-{os.getpid()}"
        self._preloaded = library.resolve()  # the file of preloads needs whole paths
        self._groups = []
        super().__init__(build, gpus=1, slots=2, settings={"cgroup_root": self._name})

    def __enter__(self):
        super().__enter__()
        try:
            self._put_pod()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *exc):
        super().__exit__(*exc)
        for group in self._groups:  # a launcher that was ended may have left its processes
            for pid in (group / "cgroup.procs").read_text(encoding="ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        cgroups.remove(self._name)

    def start(self, launcher, number):
        """Runs the program that fills memory, by a launcher. Returns (MiB that it had or None, exit code or None where
        it did not end, what was written)."""
        had, said = self._directory / f"had-{number}", self._directory / f"said-{number}"
        programs = self._build.top.resolve() / "bin"
        for word, place in (("BUILD", programs), ("HERE", _FOLDER), ("PYTHON", sys.executable), ("SYSTEM", _SYSTEM)):
            launcher = launcher.replace(word, shlex.quote(str(place)))
        enter = "".join(f"echo 0 >{shlex.quote(str(group))}/cgroup.procs && " for group in self._groups)
        program = [str(self._build.program("stranger_filler").resolve()), str(had), str(_MOST_MIB)]
        command = ["unshare", "--mount", "sh", "-c", _IN_A_POD, str(self._directory / "arbiter"),
                   str(self._directory / "etc"), "sh", "-c", launcher, "sh", *program]
        environment = {"PATH": os.environ["PATH"],
                       "LD_LIBRARY_PATH": str(self._build.gpu_libraries.resolve()),
                       "SIMGPU_NODE": "0", "SIMGPU_CONFIG": str(self._directory / "machine.yaml"),
                       "CROSSOVER_GPU_MEMORY": f"{_BUDGET_MIB}Mi"}
        with open(said, "wb") as output:
            try:
                code = subprocess.run(dying_with_parent(["sh", "-c", f'{enter}exec "$@"', "sh", *command]),
                                      env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                      stderr=subprocess.STDOUT, timeout=_PATIENCE_S, check=False).returncode
            except subprocess.TimeoutExpired:
                code = None
        text = had.read_text(encoding="ascii") if had.exists() else ""
        return int(text) if text.strip() else None, code, said.read_text(encoding="utf-8", errors="replace")

    def _put_pod(self):
        pod = Pod(1, 1_700_000_000, (Container("main", MAIN, tuple(self.gpus)),))
        manifest = pod.manifest("Running")
        manifest["metadata"]["annotations"][_ANNOTATION] = f"{_BUDGET_MIB}Mi"
        cgroups.make(self._name)
        for top in cgroups.find(self._name):
            self._groups.append(_child(_child(top, "kubepods"), f"pod{pod.uid}"))
        etc = self._directory / "etc"
        etc.mkdir()
        for name in _FILES_OF_ETC:
            if os.path.exists(f"/etc/{name}"):
                shutil.copy(f"/etc/{name}", etc)
        if os.path.isdir("/etc/alternatives"):
            shutil.copytree("/etc/alternatives", etc / "alternatives", symlinks=True)
        (etc / "ld.so.preload").write_text(f"{self._preloaded}\n", encoding="utf-8")
        self.pods.put(manifest)
        self.wait_for_pods(1)


def _child(parent, name):
    """Makes a control group. In the cpuset hierarchy a new group takes no process until its files are set."""
    group = parent / name
    group.mkdir()
    for what in ("cpuset.cpus", "cpuset.mems"):
        if (group / what).exists() and (parent / what).exists():
            with contextlib.suppress(OSError):
                (group / what).write_text((parent / what).read_text(encoding="ascii"), encoding="ascii")
    return group


def wrong_with(had, code, said):
    """Returns in words what is wrong with a process that took all memory that it got; "" where nothing is. Pure."""
    last = said.strip().splitlines()[-1:] or ["nothing"]
    if code != 0 or had is None:
        return f"it ended with {code}; its last words: {last[0]}"
    if had != _BUDGET_MIB:
        return f"expected {_BUDGET_MIB} MiB, which its pod may have, got {had}" + (
            " and was not refused more" if had == _MOST_MIB else "")
    return "" if _TOLD in said else f"the library did not write '{_TOLD}'"


def play(build, library, say=lambda words: None):
    """Runs a process by each launcher. Returns {name: what is wrong}. Raises Failed where a process has its budget in
    the environment and is wrong: then the rest proves nothing."""
    if not _SSHD.exists():
        raise Failed(f"expected openssh-server unpacked at {_SYSTEM}, got no {_SSHD.name}: "
                     "run tools/install.sh --cluster")
    wrong = {}
    with _Node(build, library) as node:
        had, code, said = node.start('"$@"', "control")
        if had != _BUDGET_MIB:
            raise Failed(f"a process with its environment had {had} MiB and ended with {code}: {said.strip()[-300:]}")
        for name, launcher in LAUNCHERS.items():
            wrong[name] = wrong_with(*node.start(launcher, name))
            say(f"      {name}: {wrong[name] or 'sound'}")
    return wrong
