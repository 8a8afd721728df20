"""cgroup_v2 counts conditions on a node with control groups of version 2 under systemd that do not hold. The node is a
virtual machine of a real Kubernetes (testing/cluster/vm), and tests/cluster/node/test_cgroup_v2.py states the
conditions: as which pod a process is known, its memory of a GPU, its devices, and what users do against us
(test_opposed.py).

Control: the same with a node daemon that reads the paths of version 1 alone. Which devices a container has does not
depend on who it is; there, the control has its device's file by a volume.
"""

import os
import time

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.pods import SLOT
from testing.cluster.rig import Refused
from testing.cluster.vm.machine import image
from testing.processes import Failed
from tests.cluster.node import test_cgroup_v2, test_opposed

_GOAL = Goal("==", 0)
_FOUND_WITHIN_S = 600.0
_THEFT = "test_a_process_is_never_taken_for_another_pods"
_DEVICES = "test_containers_have_their_gpus_device_alone_over_a_reload_and_a_resize"


class _VersionOneAlone(test_cgroup_v2.CgroupV2):
    """Runs conditions with a daemon that does not see the line of version 2 in /proc/PID/cgroup."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemons.end_on(0)
        cls.gpus.of_node_processes["LD_PRELOAD"] = str(cls.build.test_library("cgroup_v1_alone", "tests/cluster"))
        cls.daemons.start_on(0)
        end = time.monotonic() + _FOUND_WITHIN_S
        # Until the daemon has registered, the API shows the slots of the one before.
        while "registered crossover.dev/slot" not in cls.daemons.said(cls.node):
            if time.monotonic() > end:
                raise Failed(f"the daemon is not there again: {cls.daemons.said(cls.node)[-500:]}")
            time.sleep(0.1)


class _DeviceByVolume(test_cgroup_v2.CgroupV2):
    """Runs the condition of devices with a pod whose device file comes by a volume."""

    def pod_of_root(self, name):
        pod = super().pod_of_root(name)
        container = pod["spec"]["containers"][0]
        for resources in container["resources"].values():
            resources.pop(SLOT, None)
        container["volumeMounts"] = [{"name": "device", "mountPath": "/dev/nvidia0"}]
        pod["spec"]["volumes"] = [{"name": "device", "hostPath": {"path": "/dev/nvidia0", "type": "CharDevice"}}]
        return pod


def _tests(test_class):
    return tuple(sorted(name for name in vars(test_class) if name.startswith("test_")))


_ALONE = "a node daemon that reads the paths of version 1 alone"
# Each case has its conditions, its control in words, and the conditions that are checked under the control.
_CASES = {
    "identity": (("test_a_process_is_known_by_the_path_that_systemd_gave_its_container",
                  "test_a_reader_of_version_1_finds_no_pod_there", "test_a_gpu_without_a_slot_is_refused"),
                 _ALONE, (_VersionOneAlone, ("test_a_process_is_known_by_the_path_that_systemd_gave_its_container",))),
    "limits": (("test_the_memory_of_a_pod_is_bounded_by_what_its_daemon_says",),
               _ALONE, (_VersionOneAlone, ("test_the_memory_of_a_pod_is_bounded_by_what_its_daemon_says",))),
    "devices": ((_DEVICES,), "a device file that comes by a volume", (_DeviceByVolume, (_DEVICES,))),
    "opposed": ((*_tests(test_opposed.Opposed), _THEFT), _ALONE, (_VersionOneAlone, (_THEFT,)))}
CASES = tuple(_CASES)


def left_out(_case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    try:
        image()
    except Refused as refusal:
        return str(refusal)
    return ""


def measure(context, case):
    os.environ["BUILD"] = str(context.build.top)
    names, what, control = _CASES[case]
    try:
        found, seen = unmet(test_cgroup_v2.CgroupV2, names), unmet(*control)
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    context.say(f"    {found or 'all hold'}; {what}: {seen}")
    yield Measured("cgroup_v2", case, len(found), f"conditions of {len(names)}", _GOAL, (len(found),),
                   controlled(_GOAL, what, len(seen)),
                   "a virtual machine as a node of a real Kubernetes: control groups of version 2, systemd's driver",
                   {"found": found, "control_saw": seen, "conditions": list(names)})
