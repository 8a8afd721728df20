"""Measures what the library does to a program at its first kernels and at its end: items (r) and (s) of
benchmarks/gpu/README.md.
"""

import signal
import subprocess
import time

from benchmarks.gpu import children, crew, torch_rig
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import NEVER, YES, figure
from benchmarks.gpu.job_parts import gradient_bytes, native
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.ways import missed

_TOGETHER = 4  # crews that exit at the same time
_EXIT_S = 15
_ENDS = ("return", "sys_exit", "exception")


def smoke(rig, patience_s=120):
    """Measures item (r): whether the first kernels of a process survive the library, without an arbiter. The library
    asks each of them for its name until the first communicator."""
    loaded = rig.with_library(rig.work / "no-arbiter.sock", "smoke", 2)
    try:
        plain, hooked = rig.probe("names"), rig.probe("names", **loaded)
        yield figure("gpu_smoke", "cukernel", int(hooked["signal"] == 0 and hooked == plain), "yes=1", YES, (),
                     ("a program that ends by SIGSEGV", int(_survives_a_crash(rig))),
                     "a CUkernel is launched, and asked for its name as if it were a CUfunction", said=hooked)
    except Cannot as reason:
        yield missed("gpu_smoke", "cukernel", YES, str(reason), "yes=1")
    try:
        yield from _smoke_of_pytorch(rig, loaded, patience_s)
    except Cannot as reason:
        yield missed("gpu_smoke", "pytorch", YES, str(reason), "yes=1")


def _smoke_of_pytorch(rig, loaded, patience_s):
    torch_rig.need(rig)
    command = [rig.python, "-B", torch_rig.SCRIPTS / "smoke.py"]
    plain = children.answer(command, rig.environment(), patience_s)["results"]
    try:
        hooked, why = children.answer(command, rig.environment(**loaded), patience_s)["results"], ""
    except Cannot as reason:  # this is what the question is about
        hooked, why = None, str(reason)
    yield figure("gpu_smoke", "pytorch", int(hooked == plain), "yes=1", YES, (), ("without results", int(plain == {})),
                 "kernels of PyTorch, cuBLAS, cuDNN and Triton, with the library and without", why=why, said=hooked)


def _survives_a_crash(rig):
    """Returns whether a program that ends by SIGSEGV counts as one that goes on: it must not."""
    try:
        children.answer(["sh", "-c", "kill -SEGV $$"], rig.environment(), 10)
        return True
    except Cannot:
        return False


def exits(rig, shape=None, name="native", ends=("return",), count=None):
    """Measures item (s): programs that exit in a turn that they hold, with their communicator alive. Each must end by
    itself and not by a signal."""
    shape, count = shape or native(10_000), count or rig.pick(240, 4)
    for end in ends:
        bad, words, left = 0, [], count
        while left > 0:
            found = _exit_together(rig, shape, end, min(left, _TOGETHER))
            bad += len(found)
            words += found
            left -= _TOGETHER
        control = len(_exit_together(rig, shape, end, 1, signal.SIGSEGV))
        yield figure("gpu_exits", f"{name}_{end}", bad, f"of {count} programs: it crashed or hung", NEVER, (),
                     ("a program that gets SIGSEGV", control), "exit in a held turn, with the communicator alive",
                     words=words[:10])


def _exit_together(rig, shape, end, count, instead=None):
    """Lets the jobs of one crew exit. Returns what was wrong with each that crashed or hung. They get the signal
    `instead` of the word, where it is given."""
    with crew.Crew(rig, (shape,) * count, crew.TURNS_SLICES, (gradient_bytes(rig) / 0.005, 1),
                   (None,) * count) as together:
        together.await_ready()
        for job in together.jobs:
            job.say("go")
        time.sleep(rig.pick(0.6, 0.5))
        for job in together.jobs:
            job.process.send_signal(instead) if instead else job.say(f"leave {end}" if shape.preloads_nccl else "leave")
        return [words for words in map(_how_it_ended, together.jobs) if words]


def _how_it_ended(job):
    """Returns "" where the job ends by itself, else what was wrong."""
    try:
        code = job.process.wait(_EXIT_S)
    except subprocess.TimeoutExpired:
        return f"no end after {_EXIT_S} s"
    return f"ended with {code}: {job.last_words()}" if code < 0 or code >= 128 else ""


def torch_exits(rig):
    torch_rig.need(rig)
    yield from exits(rig, torch_rig.shape("leave", "resnet50", 16), "pytorch", _ENDS, count=rig.pick(12, 2))


PARTS = (
    Part("smoke", 240, smoke, (Promise("gpu_smoke", YES, "yes=1"),), True),
    Part("exits", 300, exits, (Promise("gpu_exits", NEVER),)),
    Part("torch_exits", 400, torch_exits, (Promise("gpu_exits", NEVER),)),
)
