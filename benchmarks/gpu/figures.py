"""Makes the lines that the parts answer with, and holds their goals."""

from benchmarks.results import Goal, Measured, controlled

HANDOVER_US, HANDOVER_P99_US = Goal("<=", 20.0), Goal("<=", 100.0)
SOLO_OVERHEAD = Goal("<=", 0.002)
ETA, GUARD, GAIN = Goal(">=", 0.95), Goal(">=", 0.99), Goal(">=", 1.10)
YES, NONE = Goal("==", 1), Goal()
STALL_MS = Goal("<=", 5.0)

__all__ = ["ETA", "GAIN", "GUARD", "HANDOVER_P99_US", "HANDOVER_US", "NONE", "SOLO_OVERHEAD", "STALL_MS", "YES", "Goal",
           "Measured", "controlled", "figure", "shown"]


def figure(name, case, value, unit, goal, samples=(), control=None, condition="", **remarks):
    """Returns a line. `control` is (what, value), or None."""
    return Measured(name, case, value, unit, goal, tuple(samples) or (value,),
                    controlled(goal, *control) if control else None, condition, remarks)


def shown(name, case, value, unit, condition="", **remarks):
    """Returns a line without a goal."""
    return Measured(name, case, value, unit, NONE, (value,), None, condition, remarks)
