"""Plays jobs of two users, and fatal faults, under MPS that serves one user at a time, on one node with two GPUs. The
streams of the jobs wait for signals, or at host words alone.

No process of ours may keep a user from MPS, and none may carry the fault of one job to another.
"""

from dataclasses import dataclass, replace

from testing import pairs, session, transports
from testing.faults import SIGNALS
from testing.machine import Machine
from testing.processes import Failed, await_true

_MARK = "crossover-users"
SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=120)
_USERS = 1001, 1002
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class _OneRank(Machine):
    """Describes one node with two GPUs, and jobs of one rank. A job's environment says which GPU its rank has."""

    @property
    def ranks(self):
        return 1


def _machine(kind=Machine):
    """Returns a node with two GPUs whose link gives the jobs of two ranks m/c of SHAPE."""
    both = replace(SHAPE, ranks=4).machine()
    return kind(nodes=1, gpus_per_node=2, gpu_link_bytes_per_s=both.node_link_bytes_per_s,
                node_link_bytes_per_s=both.node_link_bytes_per_s)


def _plan(build, machine, jobs, signaller, **more):
    """Returns the plan of jobs that are clients of MPS. `signaller` is a program, or None for host words."""
    return session.Plan(machine, tuple(jobs), build.library, mps=True, signaller=signaller or "",
                        signallers=int(signaller is not None),
                        daemon_settings=SIGNALS if signaller is not None else (), **more)


def _signals_of(running, clients, signaller):
    """Waits until so many clients take turns by signals, where there are signallers."""
    if signaller is not None:
        transports.await_signals(running, clients)


def _played(build, plan):
    """Runs the plan. Returns (its result, what went wrong or "")."""
    try:
        result = session.run(build, plan, _MARK)
    except Failed as failure:
        return None, str(failure)
    wrong = session.with_wrong_losses(build, plan, result)
    return result, f"the losses of {' and '.join(wrong)} are not those that it has alone" if wrong else ""


def second_user(build, signaller, _user):
    """Plays two jobs of a user, and one of another user that comes while they run. MPS serves it once they have ended.
    Returns (what went wrong or "", seconds from their end to its first iteration)."""
    alpha, beta, other = (replace(SHAPE.job(name, seed), user=user) for name, seed, user in (
        ("alpha", 1, _USERS[0]), ("beta", 2, _USERS[0]), ("other", 3, _USERS[1])))

    def during(running):
        _signals_of(running, 4, signaller)
        running.start_late("other")

    plan = _plan(build, _machine(), (alpha, beta, other), signaller, late=("other",), during=during)
    result, wrong = _played(build, plan)
    if wrong:
        return wrong, None
    last = max(result.job(name).span(0)[1] for name in ("alpha", "beta"))
    after = (result.job("other").span(0)[0] - last) / 1e9
    return "" if after > 0 else "the second user's job ran beside those of the first", after


def fatal_fault(build, signaller, user):
    """Plays two jobs of `user` that a fatal fault of one of them ends, and two more of that user. Returns (what
    went wrong or "", None)."""
    def during(running):
        _signals_of(running, 4, signaller)
        running.mps.ask(0, f"simgpu_fault {running.mps.ask(0, 'get_server_list')} hits")
        _end(running, ("alpha", "beta"))
        for name in ("gamma", "delta"):
            running.start_late(name)
        running.wait_for_turns([running.trace_tail(0)],
                               {(running.machine.uuid(0, gpu), name) for gpu in (0, 1) for name in ("gamma", "delta")},
                               _PATIENCE_S)
        _signals_of(running, 4, signaller)

    jobs = [replace(SHAPE.job(name, seed), user=user)
            for seed, name in enumerate(("alpha", "beta", "gamma", "delta"), 1)]
    plan = _plan(build, _machine(), jobs, signaller, late=("gamma", "delta"), expendable=("alpha", "beta"),
                 during=during)
    return _played(build, plan)[1], None


def one_of_two_gpus(build, signaller, user):
    """Plays two jobs of `user` on each of two GPUs, and a fatal fault on one GPU. The jobs of the other GPU go on, and
    two more run on the first. Returns (what went wrong or "", None)."""
    def during(running):
        _signals_of(running, 4, signaller)
        server = running.mps.ask(0, "get_server_list")
        running.mps.ask(0, f"simgpu_fault {server} hits {running.machine.uuid(0, 0)}")
        _end(running, ("alpha", "beta"))
        for name in ("epsilon", "zeta"):
            running.start_late(name)

    jobs = [replace(SHAPE.job(name, seed), user=user, environment={"LOCAL_RANK": str(gpu)},
                    iterations=SHAPE.iterations * (3 if gpu else 1))
            for seed, (name, gpu) in enumerate((("alpha", 0), ("beta", 0), ("gamma", 1), ("delta", 1), ("epsilon", 0),
                                                ("zeta", 0)), 1)]
    plan = _plan(build, _machine(_OneRank), jobs, signaller, late=("epsilon", "zeta"), expendable=("alpha", "beta"),
                 during=during)
    return _played(build, plan)[1], None


def _end(running, names):
    """Ends jobs whose contexts are lost: ranks of them may wait for each other. Waits until MPS's server, which is in
    FAULT until then, has let them go."""
    left = running.mps.clients(0) - len(names) * running.machine.ranks
    running.end_jobs(names)
    await_true("MPS to let them go", lambda: running.mps.clients(0) <= left, _PATIENCE_S)


# Each case, and the words by which its control is noticed: the first user's job does not start; the later jobs take no
# turns, because the server of MPS stays in FAULT; a job of the other GPU ends.
CASES = {"second_user": (second_user, "all ranks are ready"), "fatal_fault": (fatal_fault, "no turns"),
         "one_of_two_gpus": (one_of_two_gpus, "ended with")}


def shipped(build, case, signaller):
    """Plays a case with jobs of users that are not root. Returns (what went wrong or "", seconds or None)."""
    return CASES[case][0](build, signaller, _USERS[0])


def control(build, case):
    """Plays the control. Its signallers are clients of MPS as root. In the cases of faults the jobs are root's, too:
    MPS would serve no others beside it. Returns what went wrong."""
    return CASES[case][0](build, "crossover-signaller-mps", None)[0]
