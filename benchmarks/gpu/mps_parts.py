"""Measures what MPS does beyond sharing: items (c), (j), (k) and (l) of benchmarks/gpu/README.md."""

import contextlib
import os
import random
import time

from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import NEVER, NONE, figure, shown
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.rig import Mps
from benchmarks.gpu.ways import WAYS, missed, sharing
from testing import stats

_UNPRIVILEGED = 65534
# Options that make one MPS server serve all users. Drivers of CUDA 12 know the first one alone; newer ones know -M.
_EVERY_USER = ("-multiuser-server", "-M")


def users(rig):
    """Measures item (j): whether cuInit of a second user under one MPS daemon returns, and when."""
    if os.getuid() != 0:
        raise Cannot("needs root, to be two users")
    for case, options in (("one_user", ((),)), ("multi_user", tuple((option,) for option in _EVERY_USER))):
        try:
            yield _second_user(rig, case, options)
        except Cannot as reason:
            yield missed("gpu_second_user_s", case, NONE, str(reason), "s until it computes")


def _second_user(rig, case, options):
    directory = rig.fresh("mps")
    program, driver = rig.for_everybody("gpu_probe")
    directory.chmod(0o755)
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
            children.answer([program, "info"], rig.environment(**mps.environment, **state, **driver), rig.pick(10, 3),
                            _drop_root)
            value, why = time.monotonic() - began, ""
        except Cannot as reason:
            value, why = None, str(reason)
    return shown("gpu_second_user_s", case, value, "s until it computes", "a process of user 0 computes", refused=why)


def _first_that_starts(stack, choices):
    """Enters the first context that can be entered, and returns what it yields. Raises Cannot, with all reasons, where
    none can be."""
    reasons = []
    for choice in choices:
        try:
            return stack.enter_context(choice)
        except Cannot as reason:
            reasons.append(f"{' '.join(choice.flags) or 'no option'}: {reason}")
    raise Cannot("; ".join(reasons))


def _drop_root():
    os.chdir("/")
    os.setgroups([])
    os.setgid(_UNPRIVILEGED)
    os.setuid(_UNPRIVILEGED)


def kernel_kills(rig):
    """Measures item (c): SIGKILL of a process in the middle of a kernel, and what its neighbour notices."""
    for way in WAYS:
        yield from _kills(rig, "gpu_kernel_kills", way, way, ["loop", 20_000], _kill, rig.pick(12, 4))


def gate_kills(rig):
    """Measures item (k): the end of a client that stands at a gate, and of one whose release is queued behind kernels:
    by SIGKILL, and by MPS's own command."""
    for way in WAYS:
        for where in ("gate", "release"):
            for name, end in (("sigkill", _kill), ("terminate", _terminate)):
                if end is _kill or way == "mps":
                    yield from _kills(rig, "gpu_gate_kills", f"{way}_{where}_{name}", way, ["stand", where], end,
                                      rig.pick(5, 2))


def _kills(rig, name, case, way, victim, end, count):
    """Yields the line of a case: `count` clients run `victim` beside a neighbour and are ended by `end(mps, program)`.
    In the control the neighbour itself is ended."""
    unit, draw, stalls, ended = f"neighbours that ended, of {count}", random.Random(9), [], 0
    try:
        for _ in range(count):
            went_on, stall_ms = _kill_beside(rig, way, victim, end, draw)
            ended += not went_on
            stalls += [stall_ms] if went_on else []
        control = int(not _kill_beside(rig, way, victim, end, draw, True)[0])
    except Cannot as reason:
        yield missed(name, case, NEVER, str(reason), unit)
        return
    yield figure(name, case, ended, unit, NEVER, (), ("the neighbour itself is killed", control),
                 "the fault domain: a neighbour that ends shares it",
                 stall_ms=stats.summary(stalls) if stalls else None)


def _kill_beside(rig, way, victim, end, draw, of_neighbour=False):
    """Returns (whether the neighbour went on, its longest time for a kernel of 1 ms)."""
    with contextlib.ExitStack() as stack:
        environment = stack.enter_context(sharing(rig, way))
        neighbour, client = (stack.enter_context(children.Program(
            [rig.program("gpu_probe"), *words], rig.environment(**environment), rig.work / f"kills_{way}.log"))
            for words in (["loop", 1000], victim))
        for program in (neighbour, client):
            program.hear(30)
        time.sleep(draw.uniform(0.05, 0.3))
        if of_neighbour:
            neighbour.kill()
        end(rig, environment, client)
        time.sleep(0.3)
        try:
            neighbour.process.stdin.close()
            told = neighbour.hear(20)
        except (Cannot, BrokenPipeError):
            return False, None
        return told["result"] == "CUDA_SUCCESS", told["gap_us"]["max"] / 1e3


def _kill(_rig, _environment, client):
    client.kill()


def _terminate(rig, environment, client):
    """Ends a client through MPS, and then its process. Raises Cannot where MPS does not know the client."""
    mps = Mps.of(rig, environment)
    for server in mps.ask("get_server_list").split():
        if str(client.process.pid) in mps.ask(f"get_client_list {server}").split():
            mps.ask(f"terminate_client {server} {client.process.pid}")
            time.sleep(0.1)
            client.kill()
            return
    raise Cannot(f"MPS does not name process {client.process.pid} as a client")


# These commands change what a client of MPS sees of the machine. A shell runs them in a mount namespace of its own.
_SIGHTS = {
    "unchanged": "true",
    "private_shm": "mount -t tmpfs tmpfs /dev/shm",
    "read_only_pipes": 'mount --bind "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_PIPE_DIRECTORY" && '
                       'mount -o remount,bind,ro "$CUDA_MPS_PIPE_DIRECTORY"',
    "no_pipes": 'mount -t tmpfs tmpfs "$CUDA_MPS_PIPE_DIRECTORY"'}
_SIGHTS["both"] = f"{_SIGHTS['private_shm']} && {_SIGHTS['read_only_pipes']}"


def mps_sights(rig):
    """Measures item (l): whether a client of MPS needs the daemon's /dev/shm, and whether it writes to the pipe
    directory. A client that does not see the pipes must miss MPS, or the question is not asked."""
    state = {"SIMGPU_MACHINE": "1x1,mode=mps", "SIMGPU_STATE": rig.fresh_on_disk("machine") / "state"} if (
        rig.software) else {}
    with Mps(rig, rig.fresh_on_disk("mps")) as mps:
        environment = mps.environment | state
        unchanged = _sees(rig, "unchanged", environment, mps)
        if not unchanged["client"]:
            raise Cannot(f"no client in a mount namespace: {unchanged['why']}")
        blind = _sees(rig, "no_pipes", environment, mps)
        for case in ("private_shm", "read_only_pipes", "both"):
            seen = _sees(rig, case, environment, mps)
            yield figure("gpu_mps_sights", case, int(seen["client"]), "yes=1", NONE, (), None,
                         "a client of MPS computes with this sight of the machine", why=seen["why"],
                         without_pipes=int(blind["client"]))


def _sees(rig, sight, environment, mps):
    """Returns whether a program is a client of MPS and computes, and why not."""
    shell = f'mount --make-rprivate / && {_SIGHTS[sight]} && exec "$0" loop 1000'
    with children.Program(["unshare", "--mount", "sh", "-c", shell, rig.program("gpu_probe")],
                          rig.environment(**environment), mps.directory / f"{sight}.log") as client:
        try:
            client.hear(30)
            listed = " ".join(mps.ask(f"get_client_list {server}") for server in mps.ask("get_server_list").split())
            found = str(client.process.pid) in listed.split()
            client.process.stdin.close()
            result = client.hear(20)["result"]
        except Cannot as reason:
            return {"client": False, "why": str(reason)}
    return {"client": found and result == "CUDA_SUCCESS", "why": "" if found else "it computes without MPS"}


PARTS = (
    Part("kernel_kills", 200, kernel_kills, (Promise("gpu_kernel_kills", NEVER),), True),
    Part("users", 60, users, (Promise("gpu_second_user_s", NONE, "s"),), True),
    Part("mps_sights", 60, mps_sights, (Promise("gpu_mps_sights", NONE, "yes=1"),), True),
    Part("gate_kills", 240, gate_kills, (Promise("gpu_gate_kills", NEVER),), True),
)
