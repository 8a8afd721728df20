"""Tests the annotation crossover.dev/shrink on a real Kubernetes: the webhook makes the pods of a job load the library
that compresses, the daemons bring it, and its ranks agree and narrow. The kernels are functions of the host, which the
software GPU runs in their place."""

import json
import unittest
from dataclasses import replace

from testing import logs, pairs
from testing.cluster.pods import restricted
from testing.cluster.training import IMAGE, TrainingJob, load_image
from testing.processes import await_true
from tests.cluster.turns.chain_case import LEARNT_WITHIN_S, NAMESPACE, ChainCase

_KERNELS, _KERNEL_CODE = "/usr/share/kernels.image", "/usr/lib/libshrink_host_kernels.so"
_CALLS = "/out/calls.jsonl"
_DRIVER_REFUSES = "/usr/share/trainer/digits.csv"  # a file without kernels
_FLOATS = 1 << 17  # of the large all-reduce; calls of fewer than 65,536 stay as they are
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=120, warm_up=1)
_LIBRARIES = "/opt/crossover/libcrossover-shrink.so:/opt/crossover/libcrossover.so"


class Recorded(TrainingJob):
    """A job that also prints the collectives that its NCCL ran. `calls` has them by rank."""

    def __init__(self, cluster, name, annotations, environment=None):
        job = replace(_SHAPE.job(name, 1), gradient_bytes=4 * _FLOATS)
        super().__init__(cluster, NAMESPACE, job, _SHAPE.ranks, by_hand=False,
                         annotations={"crossover.dev/profile-key": name, **annotations},
                         environment={"LD_PRELOAD": _KERNEL_CODE, "CROSSOVER_SHRINK_IMAGE": _KERNELS,
                                      "SIMGPU_NCCL_TIMES": _CALLS, **(environment or {})})
        self.calls = []

    def script(self):
        return f"{super().script()} && cat {_CALLS}"

    def parse(self, lines):
        self.calls.append([call for call in logs.objects_in(lines) if "call" in call])
        return super().parse(lines)


class Unloaded(Recorded):
    """A job whose launcher clears LD_PRELOAD, so that the library that compresses is not loaded."""

    def script(self):
        return f"unset LD_PRELOAD && {super().script()}"


class Shrink(ChainCase):
    SHAPE = _SHAPE
    SETTINGS = {"webhook": {"shrink": ["bf16", "auto"]}}

    @classmethod
    def load_image(cls, data):
        place = cls.build.top / "tests/process/shrink"
        load_image(cls.cluster, cls.build, data, own_preload=False, files={
            _KERNELS: place / "host_kernels.image", _KERNEL_CODE: place / "libshrink_host_kernels.so"})

    def types_of(self, job):
        """Runs a job. Returns the types of the large sums that each rank's NCCL ran. The parameters that are broadcast
        at first are as large."""
        job.create()
        job.finish()
        return [{call["type"] for call in calls if call["call"] == "AllReduce" and call["count"] >= 65_536}
                for calls in job.calls]

    def bytes_of(self, key):
        """Returns the bytes of an iteration that libcrossover.so saw in a run with this key."""
        group, = self.communication_of(key, 1)["groups"]
        return group["bytes"]

    def preloads_of(self, job):
        container, = job.pod(0)["spec"]["containers"]
        return {variable["name"]: variable.get("value") for variable in container["env"]}

    def test_a_job_is_narrowed_on_its_owners_word(self):
        plain = Recorded(self.cluster, "plain", {})
        self.assertEqual(self.types_of(plain), [{"float32"}] * _SHAPE.ranks, "the control")
        self.assertEqual(self.preloads_of(plain)["LD_PRELOAD"], _KERNEL_CODE)
        narrowed = Recorded(self.cluster, "narrowed", {"crossover.dev/shrink": "bf16"})
        self.assertEqual(self.types_of(narrowed), [{"bfloat16"}] * _SHAPE.ranks)
        self.assertEqual(self.preloads_of(narrowed)["LD_PRELOAD"], f"{_LIBRARIES}:{_KERNEL_CODE}")
        self.assertEqual(self.preloads_of(narrowed)["CROSSOVER_SHRINK"], "bf16")
        # libcrossover.so is behind the other: it sees the calls as they go to NCCL, with two bytes for each element.
        self.assertLess(self.bytes_of("narrowed+bf16"), 0.6 * self.bytes_of("plain"))

    def events_of(self, job):
        """Returns the events of a job's pods that name plain reductions: {pod: [what it says]}."""
        names = [job.pod(rank)["metadata"]["name"] for rank in range(_SHAPE.ranks)]
        return {name: [line for line in self.cluster.events(NAMESPACE, name) if "ReductionsPlain" in line]
                for name in names}

    def test_a_job_that_runs_plain_is_told_why(self):
        asked = {"crossover.dev/shrink": "bf16"}
        refused = Recorded(self.cluster, "refused", asked, {"CROSSOVER_SHRINK_IMAGE": _DRIVER_REFUSES})
        self.assertEqual(self.types_of(refused), [{"float32"}] * _SHAPE.ranks)
        await_true("an event on each pod", lambda: all(self.events_of(refused).values()), LEARNT_WITHIN_S)
        for pod, said in self.events_of(refused).items():
            with self.subTest(pod):
                self.assertEqual(len(said), 1, said)
                self.assertIn("ReductionsPlain: crossover.dev/shrink: expected bf16, got plain reductions of "
                              f"{_SHAPE.ranks} ranks: the driver lacks functions that compression calls, or does not "
                              "load its kernels", said[0])
        unloaded = Unloaded(self.cluster, "unloaded", asked)
        self.assertEqual(self.types_of(unloaded), [{"float32"}] * _SHAPE.ranks)
        await_true("an event on a pod", lambda: any(self.events_of(unloaded).values()), LEARNT_WITHIN_S)
        said = [line for lines in self.events_of(unloaded).values() for line in lines]
        self.assertIn("expected bf16, got plain reductions: the library that compresses sees no communicator", said[0])
        agreed = Recorded(self.cluster, "agreed", asked)  # the control
        self.assertEqual(self.types_of(agreed), [{"bfloat16"}] * _SHAPE.ranks)
        self.assertEqual(set(map(len, self.events_of(agreed).values())), {0})

    def told_of(self, job, reason):
        """Returns the events with this reason of all pods of a job."""
        return [line for rank in range(_SHAPE.ranks)
                for line in self.cluster.events(NAMESPACE, job.pod(rank)["metadata"]["name"]) if reason in line]

    def chosen_of(self, job):
        """Returns the level that each pod of a job got."""
        return [job.pod(rank)["metadata"]["annotations"]["crossover.dev/status-shrink"] for rank in range(_SHAPE.ranks)]

    def test_with_auto_the_extender_chooses_by_the_profile(self):
        hint = {"apiVersion": "crossover.dev/v1alpha1", "kind": "JobProfile", "metadata": {"name": "waits"},
                "spec": {"key": "waits", "computeSeconds": 0.02, "exposedSeconds": 0.03}}
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(hint))
        asked = {"crossover.dev/shrink": "auto"}
        unknown = Recorded(self.cluster, "unknown", asked)
        self.assertEqual(self.types_of(unknown), [{"float32"}] * _SHAPE.ranks, "the control: its times are not known")
        self.assertEqual(self.chosen_of(unknown), ["off:times_unknown"] * _SHAPE.ranks)
        self.assertEqual(len(self.told_of(unknown, "ReductionsChosen")), 1)
        self.assertEqual(self.told_of(unknown, "ReductionsPlain"), [], "nothing is wrong")
        waits = Recorded(self.cluster, "waiting", {**asked, "crossover.dev/profile-key": "waits"})
        self.assertEqual(self.types_of(waits), [{"bfloat16"}] * _SHAPE.ranks)
        self.assertEqual(self.chosen_of(waits), ["bf16"] * _SHAPE.ranks)
        told, = self.told_of(waits, "ReductionsChosen")
        self.assertIn("ReductionsChosen: crossover.dev/shrink: auto is bf16: its wait for communication is 30 ms of an "
                      "iteration and its compute 20 ms; beside a job like itself a step takes 50 ms, with bf16 40 ms",
                      told)

    def test_what_the_owner_may_not_say_is_refused(self):
        for level, why in (("fp8", "expected off, advise, bf16, q8, adaptive or auto, got fp8"),
                           ("q8", "expected off, bf16 or auto, as webhook.shrink of the extender says, got q8")):
            pod = restricted("refused", IMAGE, ["/bin/sh"])
            pod["metadata"]["annotations"] = {"crossover.dev/share": "true", "crossover.dev/shrink": level}
            done = self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod),
                                        check=False)
            self.assertIn(f"crossover.dev/shrink: {why}", done.stderr)


if __name__ == "__main__":
    unittest.main()
