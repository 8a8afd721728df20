"""hook_ns is the time of a launch through the hook minus that of the direct call, on a driver whose launches do
nothing. It is measured in each state that the library tells apart (benchmarks/hook_ns/states.h). The worst of the three
kinds of launches counts (with arguments, with a configuration, of a graph).

hook_ns_instructions counts instructions in the same way, one by one, of all launches of the table of hooks. The count
is the same on a busy machine. hook_ns_unclean counts locks, allocations and system calls of these launches. A filter
refuses the system calls.

Controls: a library whose hooks take a mutex and call getpid, and one whose hooks take some 4 ns more. Both must miss
each goal, so the one that is nearer to the goal counts. This machine's compiler builds them. The remarks show what the
shipped sources cost when the same compiler builds them.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing import launches, stats
from testing.launches import run_state, worst_instructions
from testing.processes import Failed

SCOPE = "component"
_INACTIVE, _ACTIVE, _GATED = Goal("<=", 3), Goal("<=", 4), Goal("<=", 4)
_NS = {"inactive": _INACTIVE, "unheard": _ACTIVE, "no_nccl": _ACTIVE, "linked_unused": _ACTIVE, "linked": _ACTIVE,
       "loaded": _INACTIVE, "gated_linked": _GATED, "gated": _GATED}
CASES = launches.STATES
CLEAN = Goal("==", 0)
CONTROLS = ("slow_hooks", "hooks_4ns")
_WORDS = {
    "inactive": "no gang is named",
    "unheard": "a gang is named, no arbiter answers, no NCCL is called",
    "no_nccl": "watched by an arbiter, no NCCL in the program",
    "linked_unused": "watched, NCCL linked into the program and never called",
    "linked": "watched, collectives of an NCCL that is linked into the program",
    "loaded": "watched, collectives of an NCCL that is loaded",
    "gated_linked": "in a turn, NCCL linked into the program",
    "gated": "in a turn, NCCL loaded",
}


def measure(context, case):
    runs = {}
    for name, library in _libraries(context.build):
        runs[name] = []
        count = context.runs if name == "ships" else 1
        for number in range(count):
            run = _run_noted(context, library, case)
            if run:
                runs[name].append(run)
                context.say(f"    {name}, run {number + 1} of {count}: {worst_ns(run):.2f} ns")
    whole = all(runs.values()) and len(runs["ships"]) == context.runs
    shipped, bad = runs["ships"], [runs[name][0] for name in CONTROLS if runs[name]]
    condition = f"{_WORDS[case]}; 64 kernels by turns, empty driver"
    beside = {"same_compiler_as_controls": [_in_short(run) for run in runs["native"]], "runs": shipped}
    yield _measured("hook_ns", case, "ns", _NS[case], worst_ns, whole, shipped, bad, condition, beside)
    yield _measured("hook_ns_instructions", case, "instructions", Goal("<=", launches.MOST_INSTRUCTIONS[case]),
                    worst_instructions, whole, shipped, bad,
                    f"{condition}; the most of all launches of the table, counted one by one", {})
    yield Measured("hook_ns_unclean", case, max(map(_unclean, shipped)) if whole else None,
                   "locks, allocations and system calls", CLEAN, tuple(map(_unclean, shipped)),
                   controlled(CLEAN, "every hook takes a mutex and calls getpid",
                              _unclean(runs["slow_hooks"][0]) if runs["slow_hooks"] else None),
                   f"{_WORDS[case]}; the same launches, counted")


def _measured(figure, case, unit, goal, value_of, whole, shipped, bad, condition, remarks):
    samples = tuple(map(value_of, shipped))
    values = [value_of(run) for run in bad]
    known = whole and None not in samples and None not in values
    control = controlled(goal, "every hook takes 4 ns more, or takes a mutex and calls getpid: the cheaper",
                         min(values) if known and len(values) == len(CONTROLS) else None)
    return Measured(figure, case, stats.median(samples) if known else None, unit, goal, samples, control, condition,
                    remarks)


def _libraries(build):
    return [("ships", build.library), ("native", build.native_library),
            *((name, build.known_bad(name)) for name in CONTROLS)]


def worst_ns(run):
    """Returns the ns of the worst kind of launch."""
    return max(entry["hook_ns"] for entry in run["entries"].values() if "hook_ns" in entry)


def _in_short(run):
    return {"hook_ns": worst_ns(run), "instructions": worst_instructions(run)}


def _unclean(run):
    return run["allocations"] + run["locks"] + abs(run["system_calls"])


def _run_noted(context, library, state):
    try:
        return run_state(context.build, library, state)
    except Failed as failure:
        context.fail(str(failure))
        return None
