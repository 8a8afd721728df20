"""users_ipc counts rounds in which signallers keep a user from MPS, or carry a fault from one job to another, or in
which jobs are not served: MPS serves one user at a time, on one node with two GPUs. users_ipc_wait is how much longer
than with host words the second user's job waits.

Control: signallers that are clients of MPS as root, with a context on each GPU.
"""

from benchmarks.isolation import mps_users
from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
SERVED_GOAL = Goal("<=", 0.5, "median", runs=5)  # the time in which a process starts on this machine varies by as much
CASES = tuple(mps_users.CASES)
_ROUNDS = 5


def measure(context, case):
    wrong, waits = {}, {"host": [], "ipc": []}
    for number in range(_ROUNDS):
        for transport, signaller in (("host", None), ("ipc", "crossover-signaller")):
            found, waited = mps_users.shipped(context.build, case, signaller)
            waits[transport].append(waited)
            if found:
                wrong[f"{transport} {number}"] = found
                context.say(f"    round {number}, {transport}: {found}")
    seen = mps_users.control(context.build, case)
    conditions = mps_users.SHAPE.conditions(fault=case, gates="ipc", ranks=1 if case == "one_of_two_gpus" else 2)
    yield Measured("users_ipc", case, len(wrong), f"bad runs of {2 * _ROUNDS}", GOAL, (len(wrong),),
                   controlled(GOAL, "signallers that are clients of MPS", int(mps_users.CASES[case][1] in seen)),
                   case.replace("_", " "), {"wrong": wrong, "control": seen}, conditions)
    if case == "second_user" and not wrong:
        yield from _served_after(waits, conditions)


def _served_after(waits, conditions):
    """Yields how long after the first user's last job the second user's job begins, against host words."""
    more = [ipc - host for ipc, host in zip(waits["ipc"], waits["host"])]
    yield Measured("users_ipc_wait", "second_user", SERVED_GOAL.of(more), "s more than with host words", SERVED_GOAL,
                   tuple(more), None, "second user", {"waits": waits}, conditions)
