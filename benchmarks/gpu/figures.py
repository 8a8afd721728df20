"""Makes the lines that the parts answer with, and holds their goals. Where the two ways of sharing differ by nature,
each has a goal of its own: in time slices a word that passes from one process to another needs a switch of the GPU's
context, and may need a slice.
"""

from benchmarks.runner.results import Goal, Measured, controlled

HANDOVER_US = {"mps": Goal("<=", 20.0), "timeslice": Goal("<=", 5000.0)}
HANDOVER_P99_US = {"mps": Goal("<=", 100.0), "timeslice": Goal("<=", 10_000.0)}
# A signal that comes later than the next look of the signaller gains nothing.
OPENING_US = Goal("<=", 1000.0)
WORD_HOP_US = {"mps": Goal("<=", 10.0), "timeslice": Goal("<=", 5000.0)}
# The host of the known-bad variants looks once in this time.
LOOK_US = {"mps": 200, "timeslice": 20_000}
BESIDE_BLOCKED = Goal("<=", 1.03)
CROWD = Goal("<=", 1.10)
SOLO_OVERHEAD = Goal("<=", 0.002)
ETA, GUARD, GAIN = Goal(">=", 0.95), Goal(">=", 0.99), Goal(">=", 1.10)
YES, NONE, NEVER = Goal("==", 1), Goal(), Goal("==", 0)
STALL_MS = Goal("<=", 5.0)

__all__ = ["BESIDE_BLOCKED", "CROWD", "ETA", "GAIN", "GUARD", "HANDOVER_P99_US", "HANDOVER_US", "LOOK_US", "NEVER",
           "NONE", "OPENING_US", "SOLO_OVERHEAD", "STALL_MS", "WORD_HOP_US", "YES", "Goal", "Measured", "controlled",
           "figure", "loosened", "shown"]


def figure(name, case, value, unit, goal, samples=(), control=None, condition="", **remarks):
    """Returns a line. `control` is (what, value), or None."""
    return Measured(name, case, value, unit, goal, tuple(samples) or (value,),
                    controlled(goal, *control) if control else None, condition, remarks)


def shown(name, case, value, unit, condition="", **remarks):
    """Returns a line without a goal."""
    return Measured(name, case, value, unit, NONE, (value,), None, condition, remarks)


def loosened(goal, rig, factor):
    """Returns the goal of a time on this rig: on the software GPU, where threads play the GPU, it is `factor` times as
    high."""
    return Goal(goal.sense, goal.limit * factor) if rig.software else goal
