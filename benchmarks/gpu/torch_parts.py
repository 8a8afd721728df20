"""Measures real PyTorch, with its DistributedDataParallel unmodified."""

from benchmarks.gpu import crew, job_parts, nccl_jobs, steps, torch_rig
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import NEVER, SOLO_OVERHEAD, YES, Goal, figure, shown
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.ways import missed

# The links of the cases are in gigabits per second. This machine's sockets move only a part of the bytes
# (SIMGPU_NCCL_THIN).
_MOVED_BYTES_PER_S = 0.3e9
_CASES = (("resnet50", 128, 10), ("resnet50", 128, 25), ("resnet50", 64, 100))
_LARGE_CASES = (("vgg16", 64, 100), ("gpt2", 8, 100), ("gpt2", 16, 100))
_ACCURACY = Goal(">=", 0.90)
_FEATURES = ("eager", "amp", "channels_last", "compile", "profiler", "graphs")
_STEPS = 400  # of a feature
_LEAST_TURNS = Goal(">=", _STEPS // 4)


def shape(model, batch):
    return torch_rig.shape("train", model, batch)


def link(gigabits):
    speed = gigabits * 1e9 / 8
    return speed, max(1, round(speed / _MOVED_BYTES_PER_S))


def models(rig, cases=_CASES):
    """Measures each model and link under every way of sharing. The jobs of a way start when it is due: those of all
    ways do not fit in a GPU together."""
    torch_rig.need(rig)
    for model, batch, gigabits in cases:
        one = shape(model, batch)
        case = job_parts.Case(f"{model}_{batch}_{gigabits}gbps", (one, one), lambda _, g=gigabits: link(g))
        yield from job_parts.share(rig, case, all_at_once=False)


def large_models(rig):
    yield from models(rig, _LARGE_CASES)


def solo(rig):
    torch_rig.need(rig)
    for model, batch in (("resnet50", 64), ("vgg16", 64), ("gpt2", 8)):
        yield from job_parts.solo(rig, shape(model, batch), model)


def kills(rig):
    torch_rig.need(rig)
    yield from job_parts.kills(rig, shape("resnet50", 64), "resnet50", count=rig.pick(6, 2))


def _learn(rig, one, index, *flags, **environment):
    """Runs learn.py as a job of a running crew and returns its answer."""
    with one.start(index, torch_rig.shape("learn", *flags, environment=environment)) as job:
        return job.hear(120)


def losses(rig):
    """Compares 300 steps alone without the library with 300 steps with it beside a job that takes turns. A flipped bit
    must be seen."""
    torch_rig.need(rig)
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
    yield figure("gpu_accuracy", "without", longer["accuracy"], "of 359 unseen digits", _ACCURACY, (), None)
    yield figure("gpu_accuracy", "shared", learned["accuracy"], "of 359 unseen digits", _ACCURACY, (), None,
                  same_as_without=learned["parameters"] == longer["parameters"])


def features(rig):
    """Measures item (h): each feature in a job of two ranks, which takes turns beside another job. The results must
    equal those without the library, and the turns are counted. A flipped bit must be seen."""
    torch_rig.need(rig)
    neighbour, speed = shape("small", 4096), link(10)
    with crew.Crew(rig, (), crew.FREE_SLICES, speed, jobs_to_come=1) as plain, \
            crew.Crew(rig, (neighbour,), crew.TURNS_SLICES, speed, jobs_to_come=1) as shared:
        shared.await_ready()
        shared.jobs[0].say("go")
        for name in _FEATURES:
            try:
                alone = _feature(rig, plain, 0, name)
                flipped = _feature(rig, plain, 0, name, SIMGPU_NCCL_FAULT="corrupt_byte:100")
                before = _turns(shared)
                beside = _feature(rig, shared, 1, name)
                taken = _turns(shared) - before
            except Cannot as reason:
                yield missed("gpu_features_identical", name, YES, str(reason), "yes=1")
                continue
            yield figure("gpu_features_identical", name, int(alone == beside), "yes=1", YES, (),
                         ("one bit flipped on the way", int(flipped == alone)),
                         f"{_STEPS} steps of two ranks beside a job that takes turns, and alone without the library",
                         said=beside, turns=taken)
            yield figure("gpu_features_turns", name, taken, f"turns in {_STEPS} steps", _LEAST_TURNS, (),
                         ("without the library", _turns(plain)), "turns that the job held")


def _feature(rig, one, index, name, **environment):
    """Runs a feature as a job of a running crew and returns its answer."""
    with one.start(index, torch_rig.shape("features", name, _STEPS, environment=environment)) as job:
        return job.hear(180)


def _turns(one):
    """Returns how many turns the second job of a crew has held on the GPU: none where no arbiter runs."""
    return steps.turns_of(one.trace(0), "job1")


def releases(rig):
    """Measures item (m) in PyTorch: whether a write on the stream on which it computes waits for a collective that is
    under way on its stream for NCCL. The link is so slow that the collective lasts a second."""
    torch_rig.need(rig)
    slow = 4 << 20, 1  # bytes/s
    for case, environment in (("default", {}), ("connections_1", {"CUDA_DEVICE_MAX_CONNECTIONS": 1}),
                              ("connections_32", {"CUDA_DEVICE_MAX_CONNECTIONS": 32})):
        try:
            with crew.Crew(rig, (), crew.FREE_SLICES, slow, jobs_to_come=1) as one, \
                    one.start(0, torch_rig.shape("releases", environment=environment)) as job:
                seen = job.hear(120)
        except Cannot as reason:
            yield missed("gpu_torch_releases_held", case, NEVER, str(reason), "of 20 writes")
            continue
        if case == "connections_1":
            yield shown("gpu_torch_releases_held_beside", case, seen["late"], "of 20 writes", own_late=seen["own_late"])
            continue
        yield figure("gpu_torch_releases_held", case, seen["late"], "of 20 writes", NEVER, (),
                     ("a write behind the collective itself", seen["own_late"]),
                     "writes on PyTorch's stream that come after a collective which began before them")


def real_nccl(rig):
    """Measures item (b): two jobs of two ranks each of NVIDIA's NCCL, all four on the one GPU, by different
    NCCL_HOSTID."""
    folder = torch_rig.nccl_folder(torch_rig.versions(rig))
    if rig.software:
        raise Cannot("needs NVIDIA's NCCL, which wants a real driver")
    yield from nccl_jobs.measure(rig, folder)


PARTS = (
    Part("torch_solo", 240, solo, (Promise("gpu_solo_overhead", SOLO_OVERHEAD),)),
    Part("torch_models", 480, models, job_parts.SHARED),
    Part("torch_large_models", 480, large_models, job_parts.SHARED),
    Part("torch_losses", 240, losses, (Promise("gpu_losses_identical", YES), Promise("gpu_accuracy", _ACCURACY))),
    Part("torch_features", 480, features, (Promise("gpu_features_identical", YES, "yes=1"),
                                           Promise("gpu_features_turns", _LEAST_TURNS))),
    Part("torch_kills", 300, kills, (Promise("gpu_kills", NEVER),)),
    Part("torch_releases", 180, releases, (Promise("gpu_torch_releases_held", NEVER),)),
    Part("real_nccl", 180, real_nccl, (Promise("gpu_real_nccl", YES, "yes=1"),)),
)
