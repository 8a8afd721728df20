"""Tests the annotation crossover.dev/shrink on a real Kubernetes: the webhook makes the pods of a job load the library
that compresses, the daemons bring it, and its ranks agree and narrow. The kernels are functions of the host, which the
software GPU runs in their place."""

import json
import unittest
from dataclasses import replace

from testing import logs, pairs
from testing.cluster.pods import restricted
from testing.cluster.training import IMAGE, TrainingJob, load_image
from tests.cluster.turns.chain_case import NAMESPACE, ChainCase

_KERNELS, _KERNEL_CODE = "/usr/share/kernels.image", "/usr/lib/libshrink_host_kernels.so"
_CALLS = "/out/calls.jsonl"
_FLOATS = 1 << 17  # of the large all-reduce; calls of fewer than 65,536 stay as they are
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=60, warm_up=1)
_LIBRARIES = "/opt/crossover/libcrossover-shrink.so:/opt/crossover/libcrossover.so"


class Recorded(TrainingJob):
    """A job that also prints the collectives that its NCCL ran. `calls` has them by rank."""

    def __init__(self, cluster, name, annotations):
        job = replace(_SHAPE.job(name, 1), gradient_bytes=4 * _FLOATS)
        super().__init__(cluster, NAMESPACE, job, _SHAPE.ranks, by_hand=False,
                         annotations={"crossover.dev/profile-key": name, **annotations},
                         environment={"LD_PRELOAD": _KERNEL_CODE, "CROSSOVER_SHRINK_IMAGE": _KERNELS,
                                      "SIMGPU_NCCL_TIMES": _CALLS})
        self.calls = []

    def script(self):
        return f"{super().script()} && cat {_CALLS}"

    def parse(self, lines):
        self.calls.append([call for call in logs.objects_in(lines) if "call" in call])
        return super().parse(lines)


class Shrink(ChainCase):
    SHAPE = _SHAPE
    SETTINGS = {"webhook": {"shrink": ["bf16"]}}

    @classmethod
    def load_image(cls, data):
        place = cls.build.top / "tests/process/shrink"
        load_image(cls.cluster, cls.build, data, own_preload=False, files={
            _KERNELS: place / "host_kernels.image", _KERNEL_CODE: place / "libshrink_host_kernels.so"})

    def types_of(self, job):
        """Runs a job. Returns the types of the large sums that each rank's NCCL ran, and the bytes of an iteration that
        libcrossover.so saw. The parameters that are broadcast at first are as large."""
        job.create()
        job.finish()
        large = [{call["type"] for call in calls if call["call"] == "AllReduce" and call["count"] >= 65_536}
                 for calls in job.calls]
        group, = self.communication_of(job.name, 1)["groups"]
        return large, group["bytes"]

    def preloads_of(self, job):
        container, = job.pod(0)["spec"]["containers"]
        return {variable["name"]: variable.get("value") for variable in container["env"]}

    def test_a_job_is_narrowed_on_its_owners_word(self):
        plain = Recorded(self.cluster, "plain", {})
        types, whole = self.types_of(plain)
        self.assertEqual(types, [{"float32"}] * _SHAPE.ranks, "the control")
        self.assertEqual(self.preloads_of(plain)["LD_PRELOAD"], _KERNEL_CODE)
        narrowed = Recorded(self.cluster, "narrowed", {"crossover.dev/shrink": "bf16"})
        types, part = self.types_of(narrowed)
        self.assertEqual(types, [{"bfloat16"}] * _SHAPE.ranks)
        self.assertEqual(self.preloads_of(narrowed)["LD_PRELOAD"], f"{_LIBRARIES}:{_KERNEL_CODE}")
        self.assertEqual(self.preloads_of(narrowed)["CROSSOVER_SHRINK"], "bf16")
        # libcrossover.so is behind the other: it sees the calls as they go to NCCL, with two bytes for each element.
        self.assertLess(part, 0.6 * whole)

    def test_what_the_owner_may_not_say_is_refused(self):
        for level, why in (("auto", "expected off, advise, bf16 or q8, got auto, which this version does not have"),
                           ("advise", "expected off or bf16, as webhook.shrink of the extender says, got advise")):
            pod = restricted("refused", IMAGE, ["/bin/sh"])
            pod["metadata"]["annotations"] = {"crossover.dev/share": "true", "crossover.dev/shrink": level}
            done = self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod),
                                        check=False)
            self.assertIn(f"crossover.dev/shrink: {why}", done.stderr)


if __name__ == "__main__":
    unittest.main()
