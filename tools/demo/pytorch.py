"""Holds what `make demo-torch` trains: the script of examples/pytorch, by unmodified PyTorch on stand-in libraries."""

from testing.cluster import torch_training
from testing.cluster.rig.versions import TREE
from testing.commands import Job
from testing.machine import SMS, Machine
from testing.processes import Failed
from tools.demo import demo

_SCRIPT = TREE / "examples/pytorch/train.py"
_STEPS = 200
# With these a step has about twice as much compute as communication, and both are long beside what two cores spend on
# launches.
_KERNEL_SCALE = 40
_LINK_BYTES_PER_S = 100e6

_NOTES = (
    "PyTorch is unmodified, its wheel as PyPI has it. NVIDIA's libraries below it are stand-ins, and the GPUs are "
    "software: processes, allocator, streams, sockets, the library and the arbiters are real, kernels take time.",
    "Kernels compute nothing, so a loss is what lay in its memory. The mean token beside it is real: it went to the "
    "GPU, through an all-reduce, and back.",
    *demo.NOTES[1:],
)


class PyTorch:
    """Trains a small transformer by DistributedDataParallel in two jobs of two ranks, one on each node."""

    title = "Two jobs of unmodified PyTorch with two ranks each, two nodes with one software GPU each."
    profile_key = "transformer"
    notes = _NOTES
    controllers = torch_training.BINDS_CLAIMS

    def __init__(self, build, steps=_STEPS):
        self._steps = steps
        self.machine = Machine(gpus_per_node=1, node_link_bytes_per_s=_LINK_BYTES_PER_S,
                               unkind=(("kernel_scale", _KERNEL_SCALE),))
        self.libraries = (build.stand_ins,)
        torch_training.site_packages()
        if not (build.stand_ins / "libcudart.so.13").exists():
            raise Failed(f"no libcudart.so.13 in {build.stand_ins}: build simgpu_stand_ins and simgpu_runtime")

    def prepare(self, cluster, _build, namespace):
        """Loads what the jobs' pods need into the cluster."""
        torch_training.load_image(cluster, _SCRIPT)
        torch_training.make_volumes(cluster, namespace)

    def jobs(self, cluster, namespace, names, first, annotations):
        """Returns jobs of these names, not yet created. `first` is the seed of the first one."""
        return [torch_training.TorchJob(cluster, namespace, Job(name, seed, iterations=self._steps),
                                        self.machine.ranks, by_hand=False, annotations=annotations)
                for seed, name in enumerate(names, first)]

    def conditions(self, _alone):
        """Returns lines about the machine and the jobs. `alone` are the logs of the jobs that ran alone."""
        return [f"{self.machine.nodes} nodes with {self.machine.gpus_per_node} software GPU each of {SMS} "
                f"multiprocessors; collectives hold {self.machine.nccl_ctas} of them; kernels take {_KERNEL_SCALE} "
                "times their modelled time, so that two cores keep up with the launches",
                f"two jobs of {self.machine.ranks} ranks, a small transformer by DistributedDataParallel and AdamW, "
                "started by torchrun in each pod; the script has no word of Crossover; the wheel comes by a claim on "
                "a volume, read-only, and the stand-ins with the GPU",
                "c is the time of a step under no_sync(), which exchanges no gradients, and m what a step takes longer",
                f"node links of {self.machine.node_link_bytes_per_s / 1e6:.0f} MB/s each way, shared by both jobs"]
