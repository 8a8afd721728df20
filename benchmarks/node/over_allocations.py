"""over_allocations counts device IDs that a kubelet's real device manager gave to two live pods and that the real node
daemon did not name, over 2,000 pods. Pods die at any moment, daemon and kubelet are killed, and the kubelet is made to
forget what it is handing out. `over_allocations_uncounted` counts containers that have other GPUs than they were
assigned, and that the daemon's metric lacks. `over_allocations_unmended` counts IDs of two pods of which neither was
deleted for it; the pod that came last should be. All are checked every few bursts, when the daemon has had the time to
compare.

Control: a daemon that takes pods for ended once they run.
"""

from benchmarks.node.slot_faults import FaultyChurn
from benchmarks.runner.results import Goal, Measured, controlled
from testing.slots.slot_churn import Habits
from testing.slots.slot_node import SlotNode

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = ("faults",)
_PODS, _CONTROL_PODS = 2000, 300
_BURSTS_PER_AUDIT = 4
_SEED = 6


def measure(context, case):
    found, tally = play(context, _PODS)
    blind, _ = play(context, _CONTROL_PODS, ended)
    what = f"a daemon that takes pods for ended once they run, {_CONTROL_PODS} of them"
    condition = f"{_PODS} pods on 8 GPUs of 3 slots, up to 6 in flight at once, faults in most bursts"
    remarks = {"found": found.remarks(), "tally": tally.remarks()}
    # Where the kubelet never gave out an ID twice, the run found out nothing.
    unnamed = found.unnamed_doubles if found.doubles else None
    yield Measured("over_allocations", case, unnamed, f"IDs of {found.doubles} that were given twice", GOAL, (unnamed,),
                   controlled(GOAL, what, blind.unnamed_doubles), condition, remarks)
    unmended = found.unmended_doubles if found.doubles else None
    yield Measured("over_allocations_unmended", case, unmended, f"IDs of {found.doubles} that were given twice", GOAL,
                   (unmended,), controlled(GOAL, what, blind.unmended_doubles), condition)
    uncounted = found.uncounted_drifts if found.drifts else None
    yield Measured("over_allocations_uncounted", case, uncounted, f"containers of {found.drifts} that differ", GOAL,
                   (uncounted,), controlled(GOAL, what, blind.uncounted_drifts), condition)


def ended(pod):
    """Returns the pod as one that has ended, where it runs. Returns other pods unchanged."""
    return {**pod, "status": {"phase": "Succeeded"}} if pod["status"]["phase"] == "Running" else pod


def play(context, count, shown=lambda pod: pod):
    """Runs `count` pods with faults and returns (Findings, Tally). `shown` maps each pod to what the daemon sees of
    it."""
    with SlotNode(context.build, shown=shown) as node:
        faulty = FaultyChurn(node, _SEED, Habits(any_order=True, late_endings=True))
        tally, bursts = faulty.churn.tally, 0
        while tally.pods < count:
            faulty.burst(count - tally.pods)
            bursts += 1
            if bursts % _BURSTS_PER_AUDIT == 0:
                faulty.audit()
    context.say(f"    {vars(faulty.findings)}")
    return faulty.findings, tally
