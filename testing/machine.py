"""Describes the software machine of a run: its YAML, and the link speed for a given communication time. Pure."""

from dataclasses import dataclass, replace

COLLECTIVE_CTAS = 4
SMS = 132


@dataclass(frozen=True)
class Machine:
    """Nodes with equal GPUs, as the software GPU's configuration describes them."""

    nodes: int = 2
    gpus_per_node: int = 2
    mode: str = "mps"
    node_link_bytes_per_s: float = 8e6
    gpu_link_bytes_per_s: float = 1e9
    quantum_us: int = 2000
    launch_us: int = 5
    queue_depth: int = 1024
    link_sharing: str = "shared"
    nccl_ctas: int = COLLECTIVE_CTAS
    # The factor on the speed of kernels of several processes while they run at once.
    co_run: float = 1.0
    collective_start: str = "at_once"  # or when_free: collectives wait until their SMs are free
    # Beside kernels that fill the GPU, a collective takes 1 + this times as long.
    collective_slowdown: float = 0.0
    # The largest percentages of the SMs that the kernels of a stream ask for, in turn.
    kernel_mix: str = ""
    unkind: tuple = ()  # (key, value) pairs of the software GPU's options that make it less kind
    seats: tuple = ()  # rank i has the seats[i]-th GPU; empty: the i-th one

    @property
    def ranks(self):
        """The ranks of a job that uses every GPU once."""
        return self.nodes * self.gpus_per_node

    def place(self, rank):
        """Returns (node, GPU of that node) of a rank. Without `seats`, ranks fill one node after the other."""
        return divmod(self.seats[rank] if self.seats else rank, self.gpus_per_node)

    def uuid(self, node, gpu):
        """Returns the UUID that the software GPU generates."""
        return f"GPU-00000000-0000-0000-{node:04x}-{gpu:012x}"

    def with_mode(self, mode):
        return replace(self, mode=mode)

    def yaml(self, state):
        """Returns the configuration file. `state` is the directory for the machine's shared state."""
        lines = [
            f"state: {state}",
            f"mode: {self.mode}",
            f"quantum_us: {self.quantum_us}",
            f"launch_us: {self.launch_us}",
            f"queue_depth: {self.queue_depth}",
            f"link_sharing: {self.link_sharing}",
            f"node_link_bytes_per_s: {self.node_link_bytes_per_s:.0f}",
            f"gpu_link_bytes_per_s: {self.gpu_link_bytes_per_s:.0f}",
            f"nccl_ctas: {self.nccl_ctas}",
            f"co_run: {self.co_run:g}",
            f"collective_start: {self.collective_start}",
            f"collective_slowdown: {self.collective_slowdown:g}",
            "nodes:",
        ]
        if self.kernel_mix:
            lines.insert(-1, f"kernel_mix: {self.kernel_mix}")
        lines[-1:-1] = [f"{key}: {value}" for key, value in self.unkind]
        for node in range(self.nodes):
            lines += [f"  - name: node{node}", f"    gpus: {self.gpus_per_node}"]
        return "\n".join(lines) + "\n"


def ring_all_reduce_seconds(payload_bytes, ranks, link_bytes_per_s):
    """Returns the time of a ring all-reduce over its slowest link: 2 (n - 1) / n of the payload passes each link."""
    return 2 * (ranks - 1) / ranks * payload_bytes / link_bytes_per_s


def link_speed_for(exposed_s, payload_bytes, ranks):
    """Returns the link speed at which an exposed all-reduce of `payload_bytes` over `ranks` takes `exposed_s`
    seconds."""
    if exposed_s <= 0:
        raise ValueError(f"link_speed_for: exposed_s: expected more than 0, got {exposed_s}")
    return ring_all_reduce_seconds(payload_bytes, ranks, 1.0) / exposed_s
