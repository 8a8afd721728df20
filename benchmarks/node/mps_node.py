"""Plays what may become of MPS on a node: the real node daemon between a kubelet's real device manager, a simulated API
server and a control daemon of MPS, whose server fails at random moments of the daemon's rounds.

`play` does that; `moment` plays one fault on any node, and knows the node by its methods alone.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from testing.processes import Failed
from testing.slots.slot_node import SlotNode
from testing.slots.slot_pods import MAIN, RESOURCE, Container, Pod

_PROGRAM = "nvidia-cuda-mps-control"
_MPS, _BESIDE = "mps", "mps-beside"
_ROUND_S = 5.5  # the node daemon asks MPS every five seconds while all is well
_PATIENCE_S = 30.0
HOLD_S = 12.0  # two rounds of a daemon that is calm, and more: what flaps shows in it
_HOLD_EVERY = 7  # moments: 3 of 20, and the first of all
_LOOK_S = 0.02
# Each of these is a program in place of the control program. `_BLIND` says that all is well, whatever is. `_NO_START`
# starts no server.
_BLIND = """#!/bin/sh
read line
case "$line" in get_server_list) echo $PPID ;; get_server_status*) echo ACTIVE ;; esac
"""
_NO_START = """#!/bin/sh
read line
case "$line" in start_server*) ;; *) echo "$line" | '{program}' ;; esac
"""


@dataclass(frozen=True)
class Kind:
    """A Kind is what may become of MPS. `strike` and `cure` are called with the node. Slots must be withheld within
    `withheld_s`, where that is not 0, and be given out again within `recovered_s` of the cure. Pods must be told by an
    event of the reason `told`, within `told_s` from then on."""

    strike: object
    cure: object
    withheld_s: float
    recovered_s: float
    told: str = "MpsTakesNoClients"
    told_s: float = 2.0


class MpsNode(SlotNode):
    """Runs such a node, as a context manager. `control` is the text of a program in place of the control program that
    the node daemon runs, "" for that of the software GPU. `aside`: the node daemon looks at another control daemon,
    which is well. `daemon` is its file, where it is not the build's."""

    def __init__(self, build, control="", aside=False, daemon=None):
        self._mps = Path(tempfile.mkdtemp(prefix="crossover-mps-"))
        self._beside = self._mps / "beside" if aside else None
        self._program = build.program(_PROGRAM)
        self._pipe = _pipe_in(self._mps)
        program = self._program
        if control:
            program = self._mps / _PROGRAM
            program.write_text(control.format(program=self._program), encoding="utf-8")
            program.chmod(0o755)
        super().__init__(build, gpus=2, slots=2, daemon=daemon, settings={
            "sharing": "mps", "mps_directory": str(self._beside or self._mps), "mps_control": str(program)})

    def __exit__(self, *exc):
        super().__exit__(*exc)
        shutil.rmtree(self._mps, ignore_errors=True)

    def start_beside(self):
        self.start_control()
        if self._beside:
            self._beside.mkdir()
            self._start(_BESIDE, self._beside)

    def start_control(self):
        """Starts the control daemon that fails, with a server as a client's first call makes one."""
        self._start(_MPS, self._mps)

    def _start(self, name, directory):
        pipe = _pipe_in(directory)
        self._processes.start(name, [str(self._program), "-f"], env=pipe, log=directory / "control.txt", again=True)
        self.until(lambda: self._run("start_server -uid 0", pipe).returncode == 0, _PATIENCE_S, "MPS does not start")

    def ask(self, line):
        """Returns what the control daemon answers, whatever the node daemon is told."""
        return self._run(line).stdout.strip()

    def server(self):
        """Returns the process ID of the only server. Waits until there is one."""
        self.until(lambda: self.ask("get_server_list"), _PATIENCE_S, "MPS has no server")
        return int(self.ask("get_server_list"))

    def signal_server(self, number):
        os.kill(self.server(), number)

    def signal_control(self, number):
        self._processes.signal(_MPS, number)

    def end_control(self):
        self._processes.stop([_MPS])

    def admit(self, number):
        """Lets a pod in that is a client of MPS, with a slot of the first GPU. Returns it."""
        pod = Pod(number, int(time.time()), (Container("main", MAIN, (self.gpus[0],)),))
        self.pods.put(pod.manifest())
        self.wait_for_pods(1)
        self.manager.admit(pod.manifest())
        verdict = self.manager.verdict(pod.uid, _PATIENCE_S)
        if "rejected" in verdict:
            raise Failed(f"{pod.name} was rejected: {verdict['rejected']}")
        self.pods.put(pod.manifest("Running"))
        return pod

    def end(self, pod):
        self.manager.end(pod.uid)
        self.pods.delete(pod.uid)
        self.wait_for_pods(0)

    def slots(self):
        return self.manager.slots(RESOURCE)

    def told(self, pod, reason):
        """Tells whether there is an event of this reason about the pod."""
        return any(event.get("reason") == reason and event["regarding"].get("uid") == pod.uid
                   for event in list(self.pods.events))

    @staticmethod
    def until(so, patience_s, otherwise=None):
        """Waits until it is so, and returns whether it became so. With `otherwise`, raises Failed if it did not."""
        end = time.monotonic() + patience_s
        while not so():
            if time.monotonic() > end:
                if otherwise:
                    raise Failed(f"{otherwise} within {patience_s:.0f} s")
                return False
            time.sleep(_LOOK_S)
        return True

    def _run(self, line, pipe=None):
        return subprocess.run([str(self._program)], input=line + "\n", capture_output=True, text=True,
                              timeout=_PATIENCE_S, env={**os.environ, **(pipe or self._pipe)}, check=False)


def _pipe_in(directory):
    """Returns the environment that names MPS's pipe where the node daemon looks for it in its directory of MPS."""
    return {"CUDA_MPS_PIPE_DIRECTORY": str(directory / "pipe")}


def _restart(node):
    node.end_control()
    node.start_control()


def _kill_server(node):
    """Kills the server, and waits until the control daemon has noticed."""
    killed = node.server()
    os.kill(killed, signal.SIGKILL)
    node.until(lambda: node.ask("get_server_list") != str(killed), _PATIENCE_S, "MPS keeps a server that was killed")


def _no_server(node):
    node.server()
    node.ask("simgpu_servers fail")
    _kill_server(node)


# For how long a symptom has to last until it counts is in deviceplugin/mps/health.h. A second and a round come on top.
KINDS = {
    "fault": Kind(lambda node: node.ask(f"simgpu_fault {node.server()}"),
                  lambda node: node.ask(f"simgpu_recover {node.server()}"), 9.0, 9.0),
    "server_hangs": Kind(lambda node: node.signal_server(signal.SIGSTOP),
                         lambda node: node.signal_server(signal.SIGCONT), 12.0, 9.0),
    "control_hangs": Kind(lambda node: node.signal_control(signal.SIGSTOP),
                          lambda node: node.signal_control(signal.SIGCONT), 18.0, 12.0),
    "cannot_start": Kind(_no_server, lambda node: node.ask("simgpu_servers start"), 22.0, 30.0),
    "killed": Kind(_kill_server, lambda node: node.server(), 0.0, 9.0, "MpsServerEnded", 12.0),
    "control_gone": Kind(lambda node: node.end_control(), lambda node: node.start_control(), 6.0, 9.0, "MpsGone"),
}
# Today's node daemon, which differs in one thing: it is told that all is well, its orders to start a server are
# swallowed, or it looks at another control daemon, which is well.
BLINDED = {
    **dict.fromkeys(("fault", "server_hangs", "control_hangs", "cannot_start"),
                    ("a node daemon that is told that MPS is well", {"control": _BLIND})),
    "killed": ("a node daemon whose orders to start a server are swallowed", {"control": _NO_START}),
    "control_gone": ("a node daemon that looks at another control daemon", {"aside": True}),
}


def play(build, name, draw, moments, **settings):
    """Returns what went wrong, as a list for each moment. All of it happens on one node, with one node daemon."""
    kind, wrong = KINDS[name], []
    with MpsNode(build, **settings) as node:
        for number in range(1, moments + 1):
            pod = node.admit(number)
            node.server()
            time.sleep(draw.uniform(0, _ROUND_S))  # where in its rounds the node daemon is
            wrong.append(moment(node, kind, pod, HOLD_S if number % _HOLD_EVERY == 1 else 0.0))
            if wrong[-1]:
                _restart(node)
                node.until(lambda: node.slots() == node.all_slots, _PATIENCE_S)
            node.end(pod)
    return wrong


def moment(node, kind, pod, hold_s):
    """Lets one fault happen, last for `hold_s` from the moment when slots are withheld, and end. Returns in words what
    went wrong, as a list."""
    wrong = []
    kind.strike(node)
    withheld = bool(kind.withheld_s) and node.until(lambda: node.slots() == 0, kind.withheld_s)
    if kind.withheld_s and not withheld:
        wrong.append("slots are given out")
    if not node.until(lambda: node.told(pod, kind.told), kind.told_s):
        wrong.append("the pod is not told")
    if withheld and hold_s and node.until(lambda: node.slots() != 0, hold_s):
        wrong.append("slots are given out again while it lasts")
    try:
        kind.cure(node)
    except Failed as failure:
        return [*wrong, str(failure)]
    if not node.until(lambda: node.slots() == node.all_slots, kind.recovered_s):
        wrong.append("no slots are given out after the end of it")
    return wrong
