"""users_ipc counts rounds in which signallers keep a user from MPS, or carry a fault from one job to another, or in
which jobs are served otherwise than with host words: MPS serves one user at a time, on one node with two GPUs.

Control: signallers that are clients of MPS as root, with a context on each GPU.
"""

from benchmarks import mps_users
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
CASES = tuple(mps_users.CASES)
_ROUNDS = 5


def measure(context, case):
    play, wrong, waits = mps_users.CASES[case], {}, {"host": [], "ipc": []}
    for number in range(_ROUNDS):
        for transport, signaller in (("host", None), ("ipc", "crossover-signaller")):
            found, waited = play(context.build, signaller)
            waits[transport].append(waited)
            if found:
                wrong[f"{transport} {number}"] = found
                context.say(f"    round {number}, {transport}: {found}")
    seen, _ = play(context.build, "crossover-signaller-mps")
    remarks = {"wrong": wrong, "control": seen}
    if case == "second_user":
        remarks["served_after_s"] = waits
    yield Measured("users_ipc", case, len(wrong), f"bad runs of {2 * _ROUNDS}", GOAL, (len(wrong),),
                   controlled(GOAL, "signallers that are clients of MPS", int(bool(seen))), case.replace("_", " "),
                   remarks, {"kind": "processes", "fault": case})
