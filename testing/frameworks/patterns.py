"""Lists patterns, the ways to train that users of PyTorch have: each is a script of jobs/ with its arguments, and what
is expected of it beside another job."""

import dataclasses
import enum

from testing.frameworks.records import Order


class Expected(enum.Enum):
    """Says what a job does beside another one."""

    TURNS = "takes turns"
    GAPS = "takes turns by gaps"  # its collectives are not seen
    WATCHED = "is watched"
    STOPS = "is watched from some step on"  # it may have taken turns before
    VARIES = "takes turns in some runs"  # the row says why; nothing is told to the user


class Needs(enum.Enum):
    """Says what a script imports, by the option of tools/install.sh that installs it."""

    TORCH = "--torch"
    FRAMEWORKS = "--torch-frameworks"
    JAX = "--jax"


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Describes one row. `reason` is what the user is told of a job that is watched: a text of
    common/base/watch_reason.h."""

    name: str
    script: str
    arguments: tuple = ()
    launcher: tuple = ()  # options of torchrun, or of jax_jobs.processes()
    environment: tuple = ()  # (name, value) of what users set
    steps: int = 30
    least_launches: int = 40  # and waits, in each step of each rank
    expected: Expected = Expected.TURNS
    reason: str = ""
    most_turns: int = 0  # of a job that is watched: equal calls in a row look like a period for a while
    least_turns: int = 50  # of a job that takes turns: 100 where no run has had fewer
    at_waits: bool = False  # the library is told to end turns at waits
    needs: Needs = Needs.TORCH
    order: Order = Order.THREADS
    ranks: tuple = (0, 1)  # each has a record of its own; one process with all GPUs is rank 0
    memory_varies: str = ""  # why the peak of memory is not the same in each run; "" where it is

    def __post_init__(self):
        if self.reason and self.expected not in (Expected.WATCHED, Expected.STOPS):
            raise ValueError(f"pattern {self.name}: reason: expected none of a job that {self.expected.value}, got "
                             f"'{self.reason}'")


def named(name):
    """Returns the row of that name. An unknown name is a ValueError that lists the known ones."""
    for pattern in PATTERNS:
        if pattern.name == name:
            return pattern
    raise ValueError(f"pattern: expected one of {', '.join(p.name for p in PATTERNS)}, got '{name}'")


_INNER = ("compute waits for collectives inside its turns, or an iteration has more than 4 turns; "
          "CROSSOVER_TURNS_AT_WAITS=1 in the environment of the job lets turns end at such waits")
_XLA_FREES = "XLA frees the inputs of a step when the step has ended, which the host may see later"
_FRESH = (("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"),)

PATTERNS = (
    Pattern("ddp", "ddp.py", steps=40),
    Pattern("ddp_no_sync", "ddp.py", ("--accumulate", "2")),
    Pattern("ddp_find_unused_parameters", "ddp.py", ("--model", "spare", "--find-unused")),
    Pattern("ddp_amp", "ddp.py", ("--amp",)),
    Pattern("ddp_amp_skips", "ddp.py", ("--amp", "--overflow-each", "5")),
    Pattern("ddp_static_graph", "ddp.py", ("--static-graph",)),
    Pattern("ddp_bucket_view", "ddp.py", ("--bucket-view",), steps=160),
    Pattern("ddp_side_stream", "ddp.py", ("--side-stream",)),
    Pattern("ddp_bf16_hook", "ddp.py", ("--hook", "bf16"), steps=160),
    # Compute waits for each of the two factors inside the backward pass.
    Pattern("ddp_powersgd", "ddp.py", ("--hook", "powersgd"), steps=140, expected=Expected.WATCHED, reason=_INNER,
            most_turns=20),
    # Triton's own kernels need NVIDIA's ptxas.
    Pattern("ddp_compile", "ddp.py", ("--compile", "aot_eager")),
    # A rank is killed, and all begin anew. PyTorch's own store would still have NCCL's unique id of the start before.
    Pattern("ddp_restart", "ddp.py", ("--die-at", "5"), launcher=("--standalone", "--max-restarts=1"),
            environment=(("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1"),)),
    # Megatron asks for this.
    Pattern("ddp_one_connection", "ddp.py", environment=(("CUDA_DEVICE_MAX_CONNECTIONS", "1"),),
            expected=Expected.WATCHED,
            reason="CUDA_DEVICE_MAX_CONNECTIONS is 1: the end of a turn could wait for a collective"),
    Pattern("ddp_non_blocking", "ddp.py", environment=(("TORCH_NCCL_USE_COMM_NONBLOCKING", "1"),),
            expected=Expected.WATCHED,
            reason="a communicator is non-blocking; PyTorch before 2.7.1 makes such ones with "
            "init_process_group(device_id=...), unless TORCH_NCCL_USE_COMM_NONBLOCKING=0 is set"),
    # PyTorch leaves out the wait for a collective that it finds done, which the broadcasts of these jobs often are.
    Pattern("ddp_broadcast_buffers", "ddp.py", ("--model", "convolutional")),
    # Compute waits for each layer's statistics. How many ranks have any is read from a mask that no kernel computes, so
    # that each block of memory has to be fresh; PyTorch tells no peak of memory then.
    Pattern("sync_batch_norm", "ddp.py", ("--model", "convolutional", "--sync-batch-norm"), environment=_FRESH,
            expected=Expected.WATCHED, reason=_INNER, most_turns=20),
    # An evaluation every ten steps ends the period, and a period that ended within eight steps has to be seen for twice
    # as long to be believed again.
    Pattern("input_pipeline", "input_pipeline.py", expected=Expected.VARIES),
    Pattern("zero_1", "ddp.py", ("--zero",)),
    # Groups over gloo and a second one over NCCL, beside that of all ranks.
    Pattern("groups", "groups.py", steps=60, least_turns=100),
    # Compute waits for a gather of each layer inside a turn.
    Pattern("fsdp", "fsdp.py", expected=Expected.WATCHED, reason=_INNER),
    Pattern("fsdp_whole", "fsdp.py", ("--keep",), steps=60, expected=Expected.WATCHED, reason=_INNER, most_turns=20),
    Pattern("fsdp_checkpoint", "fsdp.py", ("--save-every", "40", "--evaluate-every", "40"), steps=50,
            expected=Expected.WATCHED, reason=_INNER, most_turns=20),
    Pattern("tensor_parallel", "tensor_parallel.py"),
    # Compute waits for each micro-batch that a rank receives. At first some micro-batches may look like iterations.
    Pattern("pipeline_1f1b", "pipeline.py", ("--schedule", "1f1b"), steps=140, expected=Expected.STOPS, reason=_INNER),
    # Compute waits for each of nine collectives, more than the turns of any period.
    Pattern("experts", "experts.py", steps=60, expected=Expected.WATCHED, reason=_INNER, most_turns=20),
    # The same, with turns that end at waits.
    Pattern("ddp_powersgd_at_waits", "ddp.py", ("--hook", "powersgd"), at_waits=True),
    Pattern("fsdp_at_waits", "fsdp.py", at_waits=True),
    Pattern("pipeline_1f1b_at_waits", "pipeline.py", ("--schedule", "1f1b"), at_waits=True),
    Pattern("experts_at_waits", "experts.py", at_waits=True),
    # The next rows run frameworks over PyTorch.
    Pattern("accelerate", "accelerate_ddp.py", steps=120, least_turns=100, needs=Needs.FRAMEWORKS),
    Pattern("lightning", "lightning_ddp.py", steps=120, least_turns=100, needs=Needs.FRAMEWORKS),
    # Compute waits five times in a step: for the count of tokens, the model's buffers, two buckets and the map of
    # unused parameters. While PyTorch leaves out some waits, fewer are seen.
    Pattern("transformers_trainer", "transformers_trainer.py", steps=120, expected=Expected.STOPS, reason=_INNER,
            needs=Needs.FRAMEWORKS),
    # ZeRO-1 and ZeRO-2 wait for each bucket, and for the gradients' norm; ZeRO-3 also for the parameters of each layer.
    Pattern("deepspeed_zero_1", "deepspeed_zero.py", ("--stage", "1"), steps=60, expected=Expected.WATCHED,
            reason=_INNER, most_turns=20, needs=Needs.FRAMEWORKS),
    Pattern("deepspeed_zero_2", "deepspeed_zero.py", ("--stage", "2"), steps=60, expected=Expected.WATCHED,
            reason=_INNER, most_turns=20, needs=Needs.FRAMEWORKS),
    Pattern("deepspeed_zero_3", "deepspeed_zero.py", ("--stage", "3"), expected=Expected.WATCHED, reason=_INNER,
            most_turns=20, needs=Needs.FRAMEWORKS),
    Pattern("megatron_data_parallel", "megatron_gpt.py", steps=120, least_turns=100, needs=Needs.FRAMEWORKS),
    Pattern("megatron_distributed_optimizer", "megatron_gpt.py", ("--distributed-optimizer",), steps=120,
            least_turns=100, needs=Needs.FRAMEWORKS),
    # Compute waits for the sums of each layer.
    Pattern("megatron_tensor_parallel", "megatron_gpt.py", ("--tensor-parallel",), expected=Expected.WATCHED,
            reason=_INNER, most_turns=20, needs=Needs.FRAMEWORKS),
    # Collectives are outside of the graphs.
    Pattern("graphs_computation", "graphs.py", ("--computation",), steps=60, least_turns=100),
    Pattern("graphs_whole", "graphs.py", expected=Expected.STOPS,
            reason="collectives are captured into graphs"),
    # XLA launches from several threads, one after the other for each GPU, and leaves out the wait for an event that it
    # finds done.
    Pattern("jax", "jax_data_parallel.py", steps=600, least_launches=30, needs=Needs.JAX, order=Order.RANK,
            memory_varies=_XLA_FREES),
    Pattern("jax_one_process", "jax_data_parallel.py", steps=600, least_launches=60, needs=Needs.JAX, ranks=(0,),
            launcher=("--one-process",), order=Order.NONE, memory_varies=_XLA_FREES, expected=Expected.WATCHED,
            reason="one process drives several GPUs"),
)
