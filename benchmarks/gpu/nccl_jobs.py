"""Measures jobs of the trainer (examples/), whose every rank is a program. Either one rank has no GPU and the stand-in
for NCCL connects the two, or all ranks are on the one GPU with NVIDIA's NCCL.
"""

import contextlib
import json
import time

from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import YES, figure, shown
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.rig import Mps
from testing.ports import free_port

_RANKS = 2
_PATIENCE_S = 120


class Training:
    """Runs a job of two ranks, as a context. `environment(rank)` returns the environment of a rank."""

    def __init__(self, rig, name, environment, *flags):
        self.rig, self.name, self.environment, self.flags = rig, name, environment, flags
        self.directory = rig.fresh(name)
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        port, self.ranks = free_port(), []
        for rank in range(_RANKS):
            command = [self.rig.program("trainer"), *self.flags, f"--log={self._log(rank)}"]
            own = {"RANK": rank, "WORLD_SIZE": _RANKS, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "LOCAL_RANK": 0,
                   **self.environment(rank)}
            self.ranks.append(self._stack.enter_context(
                children.Program(command, self.rig.environment(**own), self.directory / f"rank{rank}.log")))
        return self

    def __exit__(self, *exc):
        for rank in self.ranks:
            rank.process.terminate()
        self._stack.close()

    def _log(self, rank):
        return self.directory / f"rank{rank}.jsonl"

    def wait(self):
        """Waits until all ranks have ended and returns the summary of the first. Raises Cannot where a rank fails or
        does not end."""
        end = time.monotonic() + _PATIENCE_S
        for rank in self.ranks:
            while rank.alive():
                if time.monotonic() > end:
                    raise Cannot(f"{self.name}: no end after {_PATIENCE_S} s; {rank.last_words()}")
                rank.process.stdout.read1(1 << 16)  # an unread pipe would fill up and block the rank
            if rank.process.returncode != 0:
                raise Cannot(f"{self.name}: ended with {rank.process.returncode}: {rank.last_words()}")
        lines = self._log(0).read_text(encoding="utf-8").splitlines()
        return next(json.loads(line)["summary"] for line in reversed(lines) if "summary" in line)


def _beside_software(rig, state, sockets, gang, **faults):
    """Returns the environment of a job whose rank 0 is on the GPU and whose rank 1 is on a software GPU."""
    def of(rank):
        own = {"SIMGPU_MACHINE": "2x1,mode=mps,node_link_bytes_per_s=2e7", "SIMGPU_STATE": state, "SIMGPU_NODE": rank,
               "LD_LIBRARY_PATH": rig.stand_in() if rank == 0 else rig.software_libraries, "NCCL_DEBUG": "WARN"}
        library = rig.with_library(sockets[rank], gang, _RANKS) if sockets else {}
        return own | library | (faults if rank == 0 else {})
    return of


def losses(rig):
    """Compares 300 iterations alone without the library with 300 iterations with it beside another job."""
    flags = (f"--iterations={rig.pick(300, 60)}", "--compute-ms=5", "--gradient-bytes=32768")
    state = rig.fresh("machine") / "state"
    with Training(rig, "alone", _beside_software(rig, state, None, ""), *flags) as job:
        alone = job.wait()
    with Training(rig, "flipped", _beside_software(rig, state, None, "", SIMGPU_NCCL_FAULT="corrupt_byte:24"),
                  *flags) as job:
        flipped = job.wait()
    with contextlib.ExitStack() as stack:
        sockets, places = [], []
        for node in range(2):
            places.append(rig.fresh(f"arbiter{node}"))
            service, path = rig.start_arbiter(places[-1])
            stack.callback(children.stop_service, service)
            sockets.append(path)
        first, second = (stack.enter_context(Training(rig, gang, _beside_software(rig, state, sockets, gang), *flags))
                         for gang in ("first", "second"))
        told = first.wait(), second.wait()
        turns = sum('"hold"' in line for line in (places[0] / "trace.jsonl").read_text(encoding="utf-8").splitlines())
    keys = ("losses_digest", "parameters_digest")
    same = int(all(one[key] == alone[key] for one in told for key in keys))
    if turns < 20:
        raise Cannot(f"the jobs took {turns} turns on the GPU: they did not share by turns")
    yield figure("gpu_losses_identical", "trainer", same, "yes=1", YES, (),
                 ("one bit flipped on the way", int(flipped["losses_digest"] == alone["losses_digest"])),
                 f"{alone['iterations']} iterations alone without the library, and two jobs with it", turns=turns,
                 kernels=alone["kernels"], accuracy=alone["accuracy"])


def measure(rig, nccl):
    """Measures item (b): two jobs of two real ranks each on the one GPU."""
    def of(sockets, gang, mps, extra):
        def environment(rank):
            own = {"LD_LIBRARY_PATH": nccl, "NCCL_HOSTID": f"{gang}{rank}", "NCCL_SOCKET_IFNAME": "lo",
                   "NCCL_IB_DISABLE": 1, "NCCL_DEBUG": "WARN", **extra, **mps.environment}
            return own | (rig.with_library(sockets, gang, _RANKS) if sockets else {})
        return environment

    flags = ("--iterations=150", "--compute-ms=10", "--gradient-bytes=8388608")
    with Mps(rig, rig.fresh("mps")) as mps:
        for name, extra in (("all_ctas", {}), ("ctas_8", {"NCCL_MAX_CTAS": 8})):
            with Training(rig, "alone", of(None, "alone", mps, extra), *flags) as job:
                alone = job.wait()
            service, path = rig.start_arbiter(rig.fresh("arbiter"))
            try:
                with Training(rig, "one", of(path, "one", mps, extra), *flags) as one, \
                        Training(rig, "two", of(path, "two", mps, extra), *flags) as two:
                    told = one.wait(), two.wait()
            finally:
                children.stop_service(service)
            step = max(t["median_step_ns"] for t in told)
            yield figure("gpu_real_nccl", name, int(all(t["losses_digest"] == alone["losses_digest"] for t in told)),
                         "yes=1", YES, (), None, "two jobs of two ranks of NVIDIA's NCCL each, on one GPU: they end, "
                         "with the losses that one has alone")
            yield shown("gpu_real_nccl_beside", name, 2 * alone["median_step_ns"] / step, "x back-to-back")


PARTS = (Part("losses", 120, losses, (Promise("gpu_losses_identical", YES, "yes=1"),)),)
