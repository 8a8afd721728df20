"""Measures what the library does to a program at its first kernels and at its end: items (r) and (s) of
benchmarks/gpu/README.md.
"""

import signal
import subprocess
import time

from benchmarks.gpu import children, crew, torch_rig
from benchmarks.gpu.children import Cannot, Ended, Late
from benchmarks.gpu.figures import NEVER, YES, figure
from benchmarks.gpu.job_parts import gradient_bytes, native
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.ways import missed

_TOGETHER = 4  # crews that exit at the same time
_EXIT_S = 15
_ENDS = ("return", "sys_exit", "exception")
SLOW = "too slow with the library"  # the reason of a line begins so where the library made a program late
_SMOKED = {"cukernel": "a CUkernel is launched, and asked for its name as if it were a CUfunction",
           "pytorch": "kernels of PyTorch, cuBLAS, cuDNN and Triton, with the library and without"}


def smoke(rig, patience_s=120):
    """Measures item (r): whether the first kernels of a process survive the library, and are the same, without an
    arbiter. The library asks each of them for its name until the first communicator."""
    loaded = rig.with_library(rig.work / "no-arbiter.sock", "smoke", 2)
    for case, run in (("cukernel", _launch_a_cukernel), ("pytorch", _run_pytorch)):
        try:
            plain = run(rig, patience_s)
            hooked = _outcome(run, rig, patience_s, **loaded)
        except Cannot as reason:
            yield from _not_smoked(case, str(reason))
            continue
        yield from lines_of_smoke(case, plain, hooked)


def _launch_a_cukernel(rig, _, **loaded):
    seen = rig.probe("names", **loaded)
    if seen["signal"]:
        raise Ended(f"gpu_probe names: ended by signal {seen['signal']}", seen["signal"])
    return seen


def _run_pytorch(rig, patience_s, **loaded):
    torch_rig.need(rig)
    return children.answer([rig.python, "-B", torch_rig.SCRIPTS / "smoke.py"], rig.environment(**loaded),
                           patience_s)["results"]


def _outcome(run, *arguments, **loaded):
    """Returns what `run` returns, or the Late or Ended that it raises."""
    try:
        return run(*arguments, **loaded)
    except (Late, Ended) as fault:
        return fault


def lines_of_smoke(case, plain, hooked):
    """Yields the lines of a case. `plain` is what the program answered without the library. `hooked` is its answer with
    it, or the Late or Ended that came in its place. Slowness is no crash, and other results are none either. Pure."""
    if isinstance(hooked, Late):
        yield from _not_smoked(case, f"{SLOW}: {hooked}")
        return
    yield figure("gpu_smoke", case, _survived(hooked), "yes=1", YES, (),
                 ("a program that ends by SIGSEGV", _survived(Ended("", signal.SIGSEGV))), _SMOKED[case],
                 **({"said": str(hooked), "signal": hooked.signal} if isinstance(hooked, Ended) else {"said": hooked}))
    if isinstance(hooked, Ended):
        yield missed("gpu_smoke_same", case, YES, f"no results with the library: {hooked}", "yes=1")
        return
    yield figure("gpu_smoke_same", case, int(hooked == plain), "yes=1", YES, (), ("no results", int(plain == {})),
                 _SMOKED[case], differ=sorted(key for key in {**plain, **hooked} if plain.get(key) != hooked.get(key)))


def _survived(outcome):
    return int(not isinstance(outcome, Ended))


def _not_smoked(case, reason):
    for name in ("gpu_smoke", "gpu_smoke_same"):
        yield missed(name, case, YES, reason, "yes=1")


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
    Part("smoke", 240, smoke, (Promise("gpu_smoke", YES, "yes=1"), Promise("gpu_smoke_same", YES, "yes=1")), True),
    Part("exits", 300, exits, (Promise("gpu_exits", NEVER),)),
    Part("torch_exits", 400, torch_exits, (Promise("gpu_exits", NEVER),)),
)
