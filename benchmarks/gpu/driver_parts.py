"""Measures what the driver does: items (a), (d), (e) and (g) of benchmarks/gpu/README.md."""

from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import BESIDE_BLOCKED, LOOK_US, NEVER, NONE, WORD_HOP_US, YES, Goal, figure, loosened, shown
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.rig import Mps
from benchmarks.gpu.ways import each_way, missed
from testing import stats

_LEGACY = {"GPU_STREAM": "legacy"}  # the stream on which PyTorch computes
_MOST_BEHIND_8 = Goal("<=", 4)  # of 24 streams that share 8 queues, 3 are in the queue of the one that waits


def _of_way(goals, rig, way, factor):
    return loosened(goals[way], rig, factor if way == "mps" else 1)


def words(rig):
    """Measures item (a): streams of two processes pass a word in host memory that both registered. The legacy stream
    does it too."""
    def lines_of(way, environment):
        goal, rounds = _of_way(WORD_HOP_US, rig, way, 12), rig.pick(400, 100)
        bad = rig.probe("words", rig.pick(100, 50), "host", LOOK_US[way], **environment)["hop_us"]
        for case, stream in ((way, {}), (f"{way}_legacy", _LEGACY)):
            runs = [rig.probe("words", rounds, "gpu", **environment, **stream)["hop_us"] for _ in range(rig.pick(5, 3))]
            yield figure("gpu_word_hop_us", case, stats.median(runs), "us", goal, runs,
                         (f"each hop by a host that looks every {LOOK_US[way]} us", bad),
                         "from a write to the end of the other's wait")

    yield from each_way(rig, lines_of, lambda way, reason: missed("gpu_word_hop_us", way,
                                                                  _of_way(WORD_HOP_US, rig, way, 12), reason, "us"))


def blocked(rig):
    """Measures item (a): a process whose stream waits for a word, beside one that computes. In one more case a copy of
    the blocked process waits on another stream."""
    def lines_of(way, environment):
        ms = rig.pick(1000, 150)

        def beside(what):
            return rig.probe("blocked", what, ms, **environment)["of_alone"]
        alone = beside("nothing")
        computes, spin = beside("work") / alone, beside("spin") / alone
        for case, what in ((way, "wait"), (f"{way}_copy", "copy")):
            value = beside(what) / alone
            yield figure("gpu_beside_blocked", case, value, "of its time alone", BESIDE_BLOCKED, (value,),
                         ("beside a process that computes", computes), "a blocked wait must not take time slices",
                         spin=spin)

    yield from each_way(rig, lines_of, lambda way, reason: missed("gpu_beside_blocked", way, BESIDE_BLOCKED, reason))


def lookups(rig):
    """Measures item (d): whether a function by its symbol is the one that cuGetProcAddress finds."""
    seen = rig.probe("lookups")
    bad = seen["same_by_name"] / seen["versioned"]
    yield figure("gpu_lookup_identity", "driver", seen["same"] / seen["functions"], "of the functions", YES, (),
                 ("symbols by plain name, where the ABI has a newer one", bad), differ=seen["differ"],
                 missing=seen["missing"])


def queues(rig):
    """Measures item (e): how many streams stand behind one that waits."""
    def seen(connections, **more):
        extra = {"SIMGPU_FAULT": f"queues:{connections}"} if rig.software and connections == 1 else {}
        answer = rig.probe("queues", 24, CUDA_DEVICE_MAX_CONNECTIONS=connections, **extra, **more)
        if not answer["own_stands"]:
            raise Cannot("the stream that waits did not stand itself: the probe is blind")
        return answer["held_up"]

    one = seen(1)
    yield shown("gpu_streams_held_up_beside", "connections_1", one, "streams of 24")
    for case, connections, goal, more in (("connections_8", 8, _MOST_BEHIND_8, {}), ("connections_32", 32, NEVER, {}),
                                          ("connections_32_legacy", 32, NEVER, _LEGACY)):
        yield figure("gpu_streams_held_up", case, seen(connections, **more), "streams of 24", goal, (),
                     ("with one connection", one), "streams that stand behind another's wait for a word")


def budget(rig):
    """Measures item (g): a process that wants more memory than its budget, and its neighbour."""
    limit = 512
    service, socket = rig.start_arbiter(rig.fresh("budget"))
    try:
        with children.Program([rig.program("gpu_probe"), "allocate", 1024, 64, "hold"], rig.environment(),
                              rig.work / "neighbour.log") as neighbour:
            beside = neighbour.hear(60)
            library = rig.with_library(socket, "greedy") | {"CROSSOVER_GPU_MEMORY": f"{limit}Mi"}
            held = rig.probe("allocate", 4096, 64, "end", **library)
            free = rig.probe("allocate", 4096, 64, "end")
            neighbour.process.stdin.close()
            intact = beside["result"] == "CUDA_SUCCESS" and neighbour.process.wait(20) == 0
    finally:
        children.stop_service(service)
    value = int(held["result"] == "CUDA_ERROR_OUT_OF_MEMORY" and 0 < held["got_mib"] <= limit and held["goes_on"]
                and intact)
    # A machine with little memory refuses without the library, too, but not within the budget.
    bad = int(free["result"] == "CUDA_ERROR_OUT_OF_MEMORY" and 0 < free["got_mib"] <= limit)
    yield figure("gpu_budget", "library", value, "yes=1", YES, (), ("without the library", bad),
                 "the offender gets CUDA_ERROR_OUT_OF_MEMORY within its budget, the neighbour nothing",
                 got_mib=held["got_mib"], budget_mib=limit, told_total_mib=held["total_mib"])
    yield from _mps_budget(rig)


def _mps_budget(rig):
    """Shows MPS's own limit. It counts the context too, so it is larger than the library's."""
    limit = 2048
    try:
        if rig.software:
            raise Cannot("the software GPU has no memory limit of MPS")
        with Mps(rig, rig.fresh("mps")) as mps:
            held = rig.probe("allocate", 4096, 64, "end", CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=f"0={limit}MB",
                             **mps.environment)
    except Cannot as reason:
        yield missed("gpu_budget_mps_beside", "mps", NONE, str(reason), "MiB")
        return
    yield shown("gpu_budget_mps_beside", "mps", held["got_mib"], f"MiB of {limit}", result=held["result"],
                told_total_mib=held["total_mib"])


PARTS = (
    Part("words", 90, words, (Promise("gpu_word_hop_us", WORD_HOP_US["mps"], "us"),), True),
    Part("blocked", 90, blocked, (Promise("gpu_beside_blocked", BESIDE_BLOCKED),), True),
    Part("lookups", 20, lookups, (Promise("gpu_lookup_identity", YES),), True),
    Part("queues", 60, queues, (Promise("gpu_streams_held_up", NEVER),), True),
    Part("budget", 60, budget, (Promise("gpu_budget", YES),), True),
)
