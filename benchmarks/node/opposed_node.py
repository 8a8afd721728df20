"""opposed_node counts GPUs that were given to two owners on a node of a real Kubernetes whose conditions do not suit
Crossover, by what its kubelet has written down (benchmarks/node/ownership.py).

`opposed_node_unanswered` counts conditions under which a pod neither ran nor was refused with a reason that a user can
act on. The conditions, and the end that each pod must reach, are those of tests/cluster. Controls: a pod has its slot
before another device plugin comes and gives the same GPU to another pod, which cannot be prevented; a library that
needs glibc, in an image that has musl; for `signals`, a node daemon that offers host words alone.
"""

import os
import time
from pathlib import Path

from benchmarks.cluster import cluster
from benchmarks.node.ownership import Ownership
from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.pods import with_slots
from testing.cluster.rig import phase
from testing.machine import Machine
from testing.processes import Failed
from tests.cluster.node import test_mps, test_opposed, test_owner
from tests.cluster.turns import test_signals

GOAL = Goal("==", 0)
_IMAGE = "crossover.test/sleep:1"
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_PLUGINS = "/var/lib/kubelet/device-plugins"
_FOUND_WITHIN_S = 20.0
_CONDITIONS = {
    "second_plugin": (test_owner.Owner, (
        "test_gpus_that_another_plugin_gives_out_are_withheld",
        "test_gpus_that_pods_have_from_another_plugin_are_withheld_until_these_are_gone",
        "test_a_gpu_that_a_process_from_outside_uses_is_withheld")),
    "foreign_uid": (test_mps.Mps, ("test_pods_are_clients_and_one_user_is_served_at_a_time",)),
    "upgraded": (test_opposed.Opposed, ("test_the_daemon_is_upgraded_under_a_pod",)),
    "kubelet_restarted": (test_opposed.Opposed, ("test_the_kubelet_is_restarted_under_a_pod",)),
    "images": (test_opposed.Opposed, (
        "test_an_image_with_musl", "test_a_static_program",
        "test_an_image_that_preloads_by_the_loaders_file_keeps_that_where_ours_comes_by_the_environment",
        "test_a_rank_that_comes_in_through_sshd_has_the_library",
        "test_a_process_without_any_environment_has_the_library",
        "test_a_pod_with_a_user_namespace_of_its_own_runs_or_says_why_not",
        "test_two_slots_where_there_is_one_gpu_left_are_refused_in_words")),
    "signals": (test_signals.Signals, ("test_two_jobs_take_turns_by_signals_while_daemons_are_replaced",)),
}
CASES = tuple(_CONDITIONS)


class _OpposedByOurs(test_opposed.Opposed):
    """Runs the conditions of the control, with a library that images without glibc cannot load."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemons.end_on(0)
        library = cls.build.test_library("needs_glibc", "tests/cluster")
        cls.daemons.start_on(0, library=str(library), injection="environment")  # musl reads no /etc/ld.so.preload
        end = time.monotonic() + _FOUND_WITHIN_S
        # Until the daemon has registered, the API shows the slots of the one before.
        while "registered crossover.dev/slot" not in cls.daemons.said(cls.node):
            if time.monotonic() > end:
                raise Failed(f"the daemon is not there again: {cls.daemons.said(cls.node)[-500:]}")
            time.sleep(0.1)
        cls.cluster.wait_for("node", cls.node.name, lambda node: cluster.allocatable(node) == cls.daemons.slots)


class _SignalsByHostWords(test_signals.Signals):
    """Runs the condition of signals under node daemons that offer none."""

    TRANSPORT = "host"


def _control_of(case):
    """Returns (class of tests, name of its test, what is wrong there)."""
    if case == "signals":
        return _SignalsByHostWords, _CONDITIONS[case][1][0], "a node daemon with host words alone"
    return _OpposedByOurs, "test_an_image_with_musl", "a library that needs glibc, under musl"


def measure(context, case):
    test_class, names = _CONDITIONS[case]
    os.environ |= {"BUILD": str(context.build.top), "OTHER_PLUGIN": str(context.build.program("other_plugin")),
                   "TRAINER_DATA": str(_DATA)}
    twice, unanswered = _under(context, test_class, names)
    bad_class, bad_name, what = _control_of(case)
    _, seen_unanswered = _under(context, bad_class, (bad_name,))
    seen_twice = _given_twice(context)
    condition = f"{len(names)} conditions on a real kubelet, pods of UID 65532 with a read-only root file system"
    yield Measured("opposed_node", case, len(twice), "GPUs given out twice", GOAL, (len(twice),),
                   controlled(GOAL, "another plugin gives out a GPU that has a pod with a slot", len(seen_twice)),
                   condition, {"twice": twice, "control_saw": seen_twice, "conditions": list(names)})
    yield Measured("opposed_node_unanswered", case, len(unanswered), f"conditions of {len(names)}", GOAL,
                   (len(unanswered),), controlled(GOAL, what, len(seen_unanswered)),
                   condition, {"unanswered": unanswered, "control_saw": seen_unanswered})


def _under(context, test_class, names):
    """Returns (GPUs that were given out twice, conditions without a good end), in words."""
    found = []

    class Watched(test_class):
        """Runs the conditions under an Ownership that watches the cluster."""

        @staticmethod
        def OBSERVER(cls):  # pylint: disable=invalid-name
            found.append(Ownership(cls.cluster, cls.NODE_SETTINGS.get("slots_per_gpu", 2)))
            return found[-1].watching()

    unanswered = unmet(Watched, names)
    if not found:
        raise Failed(f"no test looked: {unanswered}")
    context.say(f"    {len(names)} conditions: {found[0].twice or 'no GPU given out twice'}; "
                f"{unanswered or 'each with an answer'}")
    return found[0].twice, unanswered


def _given_twice(context):
    """Returns what is seen of a GPU that has a pod with a slot, and that another plugin gives to another pod. This is
    the control."""
    machine = Machine(nodes=1, gpus_per_node=2)
    with cluster.running(context.build, machine) as running:
        kubernetes, node, uuid = running.cluster, running.cluster.nodes[0], running.gpus.uuids(0)[0]
        kubernetes.image_of(_IMAGE, {"/bin/sleep": "/bin/sleep"})
        with Ownership(kubernetes, 2).watching() as ownership:
            cluster.new_pod(running, node, "ours", _IMAGE, gpus=[uuid])
            plugin = [str(context.build.program("other_plugin")), _PLUGINS, "nvidia.com/gpu", uuid]
            kubernetes.processes.start("other-plugin", node.enter(plugin))
            pod = with_slots("theirs", _IMAGE, ["/bin/sleep", "10000"], node.name)
            pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
            kubernetes.wait_for("node", node.name, lambda seen: "nvidia.com/gpu" in seen["status"]["allocatable"])
            running.api.create(cluster.PODS, pod)
            kubernetes.wait_for("pod", "theirs", phase("Running"), cluster.NAMESPACE)
            return ownership.await_one(_FOUND_WITHIN_S)
