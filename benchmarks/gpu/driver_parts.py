"""Measures what the driver does: items (a), (c), (d), (e), (g), (i) and (j) of benchmarks/gpu/README.md."""

import contextlib
import os
import random
import time

from benchmarks import stats
from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import HANDOVER_P99_US, HANDOVER_US, YES, Goal, figure, shown
from benchmarks.gpu.rig import Mps

_NOBODY = 65534
# Options that make one MPS server serve all users. Drivers of CUDA 12 know the first one alone; newer ones know -M.
_EVERY_USER = ("-multiuser-server", "-M")


@contextlib.contextmanager
def sharing(rig, way):
    """Yields the environment of programs that share the GPU by MPS ("mps") or by time slices ("timeslice"). On the
    software GPU the way is the machine's mode."""
    state = rig.fresh("machine")
    software = {"SIMGPU_MACHINE": f"1x1,mode={way}", "SIMGPU_STATE": state / "state"} if rig.software else {}
    if way == "timeslice":
        yield software
        return
    with Mps(rig, rig.fresh("mps")) as mps:
        yield software | mps.environment


def _ways(rig):
    """Yields (way, environment, reason) for each way. The reason is "" where the way can be had."""
    for way in ("timeslice", "mps"):
        try:
            with sharing(rig, way) as environment:
                yield way, environment, ""
        except Cannot as reason:
            yield way, {}, str(reason)


def missed(name, case, goal, reason, unit="1"):
    return figure(name, case, None, unit, goal, reason=reason)


def words(rig):
    """Measures item (a): streams of two processes pass a word in host memory that both registered."""
    goal = Goal("<=", 10.0) if not rig.software else Goal("<=", 120.0)
    for way, environment, reason in _ways(rig):
        if reason:
            yield missed("gpu_word_hop_us", way, goal, reason, "us")
            continue
        rounds = rig.pick(400, 100)
        runs = [rig.probe("words", rounds, "gpu", **environment)["hop_us"] for _ in range(rig.pick(5, 3))]
        bad = rig.probe("words", rounds, "host", **environment)["hop_us"]
        yield figure("gpu_word_hop_us", way, stats.median(runs), "us", goal, runs,
                     ("each hop by a host that looks every 200 us", bad), "from a write to the end of the other's wait")


def blocked(rig):
    """Measures item (a): a process whose stream waits for a word, beside one that computes."""
    for way, environment, reason in _ways(rig):
        if reason:
            yield missed("gpu_beside_blocked", way, Goal("<=", 1.03), reason)
            continue
        ms = rig.pick(1000, 150)
        alone = rig.probe("blocked", "nothing", ms, **environment)["of_alone"]
        wait, spin = (rig.probe("blocked", what, ms, **environment)["of_alone"] / alone for what in ("wait", "spin"))
        control = ("beside a kernel that spins", spin) if way == "timeslice" else None
        yield figure("gpu_beside_blocked", way, wait, "of its time alone", Goal("<=", 1.03), (wait,), control,
                     "a blocked wait must not take time slices", spin=spin)


def lookups(rig):
    """Measures item (d): whether a function by its symbol is the one that cuGetProcAddress finds."""
    seen = rig.probe("lookups")
    bad = seen["same_by_name"] / seen["versioned"]
    yield figure("gpu_lookup_identity", "driver", seen["same"] / seen["functions"], "of the functions", YES, (),
                 ("symbols by plain name, where the ABI has a newer one", bad), differ=seen["differ"],
                 missing=seen["missing"])


def queues(rig):
    """Measures item (e): how many streams stand behind one that waits."""
    goal = Goal("==", 0)
    for connections in (1, 8, 32):
        extra = {"SIMGPU_FAULT": f"queues:{connections}"} if rig.software and connections == 1 else {}
        seen = rig.probe("queues", 24, CUDA_DEVICE_MAX_CONNECTIONS=connections, **extra)
        if not seen["own_stands"]:
            raise Cannot("the stream that waits did not stand itself: the probe is blind")
        case = f"connections_{connections}"
        if connections == 1:
            yield shown("gpu_streams_held_up_beside", case, seen["held_up"], "streams of 24")
        else:
            yield figure("gpu_streams_held_up", case, seen["held_up"], "streams of 24", goal, (),
                         ("the stream that waits itself", int(seen["own_stands"])),
                         "streams that stand behind another's wait for a word")


def handover(rig):
    """Measures item (i): the time from the end of one process's last kernel to the start of the other's first."""
    turns, hold = rig.pick(2000, 150), 300
    for way, environment, reason in _ways(rig):
        if reason:
            yield missed("gpu_handover_us", way, HANDOVER_US, reason, "us")
            continue
        seen = {}
        for transport in ("host", "vmm", "ipc", "hostgate", "synchronize"):
            for place in ("same", "apart"):
                yield from _handover(rig, seen, way, transport, place, (turns, hold), environment)
        best = min((seen[key]["p50"], key) for key in seen if key[0] not in ("synchronize",))[1]
        bad = seen[("synchronize", "same")]
        for suffix, quantile, goal in (("", "p50", HANDOVER_US), ("_p99", "p99", HANDOVER_P99_US)):
            goal = Goal("<=", goal.limit * (4 if rig.software else 1))
            yield figure("gpu_handover_us" + suffix, way, seen[best][quantile], "us", goal, (),
                         ("release by a host that looks every 200 us whether its stream is done", bad[quantile]),
                         "best transport",
                         transport=" ".join(best), turns=turns, hold_us=hold)


def _handover(rig, seen, way, transport, place, shape, environment):
    case = f"{way}_{transport}_{place}"
    try:
        answer = children.answer([rig.program("gpu_handover"), transport, place, *shape],
                                 rig.environment(**environment), 60)["handover_us"]
    except Cannot as reason:
        yield shown("gpu_handover_us_beside", case, None, "us", refused=str(reason))
        return
    seen[transport, place] = answer
    yield shown("gpu_handover_us_beside", case, answer["p50"], "us at the median", p99=answer["p99"],
                place="two PID namespaces" if place == "apart" else "one PID namespace")


def kernel_kills(rig):
    """Measures item (c): SIGKILL of a process in the middle of a kernel, and what its neighbour notices."""
    kills, draw = rig.pick(20, 4), random.Random(9)
    for way, environment, reason in _ways(rig):
        if reason:
            yield missed("gpu_kernel_kills", way, Goal("==", 0), reason, "neighbours that ended")
            continue
        ended, stalls = 0, []
        for number in range(kills):
            with contextlib.ExitStack() as stack:
                programs = [stack.enter_context(children.Program(
                    [rig.program("gpu_probe"), "loop", kernel], rig.environment(**environment),
                    rig.work / f"loop_{way}.log")) for kernel in (1000, 20_000)]
                for program in programs:
                    program.hear(30)
                time.sleep(draw.uniform(0.05, 0.3))
                programs[1].kill()
                time.sleep(0.3)
                programs[0].process.stdin.close()
                told = programs[0].hear(20)
                ended += told["result"] != "CUDA_SUCCESS"
                stalls.append(told["gap_us"]["max"] / 1e3)
        yield figure("gpu_kernel_kills", way, ended, f"neighbours that ended, of {kills}", Goal("==", 0), (),
                     None, "the fault domain: a neighbour that ends shares it", stall_ms=stats.summary(stalls))


def users(rig):
    """Measures item (j): whether cuInit of a second user under one MPS daemon returns, and when."""
    if os.getuid() != 0:
        raise Cannot("needs root, to be two users")
    for case, options in (("one_user", ((),)), ("multi_user", tuple((option,) for option in _EVERY_USER))):
        directory = rig.fresh("mps")
        for path in (rig.work, directory):
            path.chmod(0o755)
        state = {"SIMGPU_STATE": rig.fresh("shared") / "state"} if rig.software else {}
        if state:
            state["SIMGPU_STATE"].parent.chmod(0o777)
        with contextlib.ExitStack() as stack:
            mps = _first_that_starts(stack, [Mps(rig, directory, *flags) for flags in options])
            first = stack.enter_context(children.Program(
                [rig.program("gpu_probe"), "loop", 1000], rig.environment(**mps.environment, **state),
                directory / "first.log"))
            (directory / "pipe").chmod(0o755)
            first.hear(30)
            began = time.monotonic()
            try:
                rig.probe("info", timeout_s=rig.pick(10, 3), preexec=_become_nobody, **mps.environment, **state)
                value, why = time.monotonic() - began, ""
            except Cannot as reason:
                value, why = None, str(reason)
        yield shown("gpu_second_user_s", case, value, "s until it computes", "a process of user 0 computes",
                    refused=why)


def _first_that_starts(stack, choices):
    """Enters the first context that can be entered, and returns what it yields. Raises Cannot where none can be."""
    for choice in choices[:-1]:
        with contextlib.suppress(Cannot):
            return stack.enter_context(choice)
    return stack.enter_context(choices[-1])


def _become_nobody():
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)


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
    bad = int(free["result"] == "CUDA_ERROR_OUT_OF_MEMORY")
    yield figure("gpu_budget", "library", value, "yes=1", YES, (), ("without the library", bad),
                 "the offender gets CUDA_ERROR_OUT_OF_MEMORY within its budget, the neighbour nothing",
                 got_mib=held["got_mib"], budget_mib=limit, told_total_mib=held["total_mib"])
    yield from _mps_budget(rig, limit)


def _mps_budget(rig, limit):
    if rig.software:
        return
    try:
        with Mps(rig, rig.fresh("mps")) as mps:
            held = rig.probe("allocate", 4096, 64, "end", CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=f"0={limit}MB",
                             **mps.environment)
    except Cannot as reason:
        yield missed("gpu_budget_mps_beside", "mps", Goal(), str(reason), "MiB")
        return
    yield shown("gpu_budget_mps_beside", "mps", held["got_mib"], f"MiB of {limit}", result=held["result"],
                told_total_mib=held["total_mib"])


PARTS = (("words", 60, words), ("blocked", 60, blocked), ("lookups", 20, lookups), ("queues", 40, queues),
         ("handover", 150, handover), ("kernel_kills", 120, kernel_kills), ("users", 60, users), ("budget", 60, budget))
