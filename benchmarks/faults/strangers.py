"""strangers counts programs, of 40, that go wrong in a process that the library is in, too: ten of each of four kinds.
Each does what libraries, languages and launchers of real jobs do. strangers_kind has the count of each kind.

descriptors  programs that close or take over descriptor numbers, the library's own among them: their data must be
             whole, and their job must go on to take turns
two_drivers  programs with a stub of the driver beside the driver: each library must answer as without ours, and the job
             must take turns
budgets      processes of a pod that launchers start with a clean environment: they must have the budget of the pod. One
             comes in through a real sshd, as ranks of MPI do
full_tables  programs with more streams, captures or communicators at a time than a table has room for, on all ranks or
             on one: turns must begin again

Where a program has the name of a server or a library, such as closes_gunicorn, it does what that one does, and is not
that one. sshd, perl and start-stop-daemon are themselves.

The descriptors that the driver and NCCL need are spared: without them a job fails on every machine.

Control: the library of a revision that did not look for any of this. It must fail in each kind.
"""

from benchmarks.faults import lost_budgets, strange_programs
from benchmarks.runner import older_library
from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
CASES = ("all",)
_OLD = "a261eb0"
_BUDGETS = "budgets"


def measure(context, case):
    older = older_library.library_of(_OLD, context.build)
    found, controls = {}, {}
    for kind in (*strange_programs.KINDS, _BUDGETS):
        found[kind] = _play(context, kind, context.build.library)
        context.say(f"    {kind}: {_wrong(found[kind]) or 'all sound'}")
        controls[kind] = _play(context, kind, older)
        context.say(f"      revision {_OLD}: {len(_wrong(controls[kind]))} of {len(controls[kind])} wrong")
    for kind, programs in found.items():
        wrong = _wrong(programs)
        yield Measured("strangers_kind", kind, len(wrong), f"programs of {len(programs)} that go wrong", GOAL,
                       (len(wrong),), _control(kind, controls[kind]), _condition(kind),
                       {"wrong": wrong, "control_saw": _wrong(controls[kind]), "programs": list(programs)},
                       _conditions(kind))
    total = sum(len(_wrong(programs)) for programs in found.values())
    yield Measured("strangers", case, total, f"programs of {sum(map(len, found.values()))} that go wrong", GOAL,
                   (total,), tuple(_control(kind, programs) for kind, programs in controls.items()),
                   "programs of four kinds, on software GPUs", {}, _conditions(""))


def _play(context, kind, library):
    if kind == _BUDGETS:
        return lost_budgets.play(context.build, library, context.say)
    return strange_programs.play(context.build, kind, library, context.say)


def _wrong(programs):
    return {name: words for name, words in programs.items() if words}


def _control(kind, programs):
    return controlled(GOAL, f"the library of revision {_OLD}: {kind}", len(_wrong(programs)))


def _condition(kind):
    if kind == _BUDGETS:
        return "processes of a pod with a budget of 64 MiB, beside the real node daemon"
    return "a job of 2 ranks beside another, c = 10 ms, m/c = 0.6, mps, no guard"


def _conditions(kind):
    return {"kind": "program"} if kind == _BUDGETS else strange_programs.SHAPE.conditions(jobs=2)
