"""Measures real PyTorch, with its DistributedDataParallel unmodified. Where the other ranks have no GPU, the stand-in
for NCCL is preloaded: PyTorch's own RPATH would find NVIDIA's NCCL before any LD_LIBRARY_PATH.
"""

import json
import subprocess
from pathlib import Path

from benchmarks.gpu import children, crew, job_parts, nccl_jobs
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import YES, Goal, figure

_SCRIPTS = Path(__file__).parent / "pytorch"
# The links of the cases are in gigabits per second. This machine's sockets move only a part of the bytes
# (SIMGPU_NCCL_THIN).
_MOVED_BYTES_PER_S = 0.3e9
# Eight processes of a case run at once. They must fit in the GPU's memory together.
_CASES = (("resnet50", 128, 10), ("resnet50", 128, 25), ("resnet50", 64, 100), ("vgg16", 64, 100), ("gpt2", 8, 100),
          ("gpt2", 16, 100))
_ACCURACY = 0.90
_FEATURES = ("eager", "amp", "channels_last", "compile", "profiler", "graphs")


def describe(rig):
    try:
        return json.dumps(_versions(rig))
    except Cannot as reason:
        return f"cannot be used: {reason}"


def _versions(rig):
    code = ("import json, os, torch; print(json.dumps({'torch': torch.__version__, 'cuda': torch.version.cuda, "
            "'file': os.path.dirname(torch.__file__), 'gpu': torch.cuda.is_available()}))")
    return children.answer([rig.python, "-c", code], rig.environment(), 120)


def _need(rig):
    """Checks that PyTorch runs with the stand-in in NCCL's place. Raises Cannot, with the reason, where it does not
    load."""
    if rig.software:
        raise Cannot("PyTorch computes on real GPUs alone: the CUDA runtime does not work on the software GPU")
    versions = _versions(rig)
    if not versions["gpu"]:
        raise Cannot(f"PyTorch {versions['torch']} sees no GPU")
    _check_symbols(rig, Path(versions["file"]) / "lib" / "libtorch_cuda.so")


def _check_symbols(rig, library):
    """Raises Cannot where the stand-in lacks a symbol. PyTorch is loaded with all symbols bound, so a missing one would
    keep it from loading."""
    def of(file, *flags):
        done = subprocess.run(["nm", "-D", *flags, str(file)], capture_output=True, text=True, check=False)
        return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if " nccl" in line}
    missing = of(library, "--undefined-only") - of(rig.stand_in() / "libnccl.so.2", "--defined-only")
    if missing:
        raise Cannot(f"the stand-in for NCCL lacks what this PyTorch is linked against: {', '.join(sorted(missing))}")


def shape(model, batch):
    return crew.Shape(f"{model}_{batch}", lambda rig: [rig.python, "-B", _SCRIPTS / "with_peers.py",
                                                       _SCRIPTS / "train.py", model, batch], None, True)


def link(gigabits):
    speed = gigabits * 1e9 / 8
    return speed, max(1, round(speed / _MOVED_BYTES_PER_S))


def models(rig):
    """Measures each model and link under every way of sharing."""
    _need(rig)
    for model, batch, gigabits in _CASES:
        one = shape(model, batch)
        case = job_parts.Case(f"{model}_{batch}_{gigabits}gbps", (one, one), lambda _, g=gigabits: link(g))
        try:
            yield from job_parts.share(rig, case)
        except (Cannot, ValueError) as reason:
            yield figure("gpu_eta", case.name, None, "1", job_parts.ETA, (), None, str(reason))


def solo(rig):
    _need(rig)
    for model, batch in (("resnet50", 64), ("vgg16", 64), ("gpt2", 8)):
        yield from job_parts.solo(rig, shape(model, batch), model)


def kills(rig):
    _need(rig)
    yield from job_parts.kills(rig, shape("resnet50", 64), "resnet50", count=rig.pick(6, 2))


def _learn(rig, one, index, *flags, **environment):
    """Runs learn.py as a job of a running crew and returns its answer."""
    with one.start(index, crew.Shape("learn", lambda r: [r.python, "-B", _SCRIPTS / "with_peers.py",
                                                        _SCRIPTS / "learn.py", *flags], environment, True)) as job:
        return job.hear(120)


def losses(rig):
    """Compares 300 steps alone without the library with 300 steps with it beside a job that takes turns. A flipped bit
    must be seen."""
    _need(rig)
    neighbour = shape("small", 4096)
    speed = link(10)
    with crew.Crew(rig, (), crew.FREE_SLICES, speed, jobs_to_come=1) as plain:
        alone = _learn(rig, plain, 0)
        flipped = _learn(rig, plain, 0, SIMGPU_NCCL_FAULT="corrupt_byte:100")
        longer = _learn(rig, plain, 0, "--steps", "900")
    with crew.Crew(rig, (neighbour,), crew.TURNS_SLICES, speed, jobs_to_come=1) as shared:
        shared.await_ready()
        shared.jobs[0].say("go")
        beside = _learn(rig, shared, 1)
        learned = _learn(rig, shared, 1, "--steps", "900")
        shared.jobs[0].say("stop")
        taken = len(shared.jobs[0].hear(60)["ends_ns"])
    same = int((alone["losses"], alone["parameters"]) == (beside["losses"], beside["parameters"]))
    differs = int(flipped["losses"] == alone["losses"])
    yield figure("gpu_losses_identical", "pytorch_digits", same, "yes=1", YES, (),
                 ("one bit flipped on the way", differs),
                 "300 deterministic steps alone without the library, and with it beside another job",
                 neighbours_steps=taken)
    yield figure("gpu_accuracy", "without", longer["accuracy"], "of 359 unseen digits", Goal(">=", _ACCURACY), (), None)
    yield figure("gpu_accuracy", "shared", learned["accuracy"], "of 359 unseen digits", Goal(">=", _ACCURACY), (),
                 None, same_as_without=learned["parameters"] == longer["parameters"])


def features(rig):
    """Runs one rank of NVIDIA's own NCCL: the results with the library must equal those without it."""
    if rig.software:
        raise Cannot("PyTorch computes on real GPUs alone")
    service, socket = rig.start_arbiter(rig.fresh("features"))
    try:
        for name in _FEATURES:
            command = [rig.python, "-B", _SCRIPTS / "features.py", name]
            try:
                plain = children.answer(command, rig.environment(), 120)
                hooked = children.answer(command, rig.environment(**rig.with_library(socket, name)), 120)
            except Cannot as reason:
                yield figure("gpu_features_identical", name, 0, "yes=1", YES, (), None, str(reason))
                continue
            yield figure("gpu_features_identical", name, int(plain == hooked), "yes=1", YES, (),
                         None, "with the library and without", said=hooked)
    finally:
        children.stop_service(service)


def real_nccl(rig):
    """Measures item (b): two jobs of two ranks each of NVIDIA's NCCL, all four on the one GPU, by different
    NCCL_HOSTID."""
    if rig.software:
        raise Cannot("needs NVIDIA's NCCL, which wants a real driver")
    found = sorted((Path(_versions(rig)["file"]).parent / "nvidia").glob("nccl/lib/libnccl.so.2"))
    if not found:
        raise Cannot("no libnccl.so.2 beside this PyTorch")
    yield from nccl_jobs.measure(rig, found[0].parent)


PARTS = (("torch_solo", 240, solo), ("torch_models", 480, models), ("torch_losses", 240, losses),
         ("torch_features", 300, features), ("torch_kills", 300, kills), ("real_nccl", 180, real_nccl))
