"""budget_error is the number of bytes by which the books of a process are wrong after a million random allocations and
frees of every kind by many threads. It adds the error at the end of the operations and the error once all memory is
freed. The truth is what the software GPU has given, as another process sees it.

Control: books that take mapped memory for freed.
"""

import tempfile
from pathlib import Path

from benchmarks.runner.results import Goal, Measured, controlled
from testing import allocations

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = ("8_threads", "8_threads_at_the_limit")
_OPERATIONS, _OPERATIONS_OF_CONTROL = 1_000_000, 20_000
_BUDGETS = dict(zip(CASES, ("60Gi", "256Mi")))
_CONTROL = "forgets_mappings"


def measure(context, case):
    error, done = _error(context, context.build.library, case, _OPERATIONS)
    bad, _ = _error(context, context.build.known_bad(_CONTROL), case, _OPERATIONS_OF_CONTROL)
    notes = {} if done is None else {"held_bytes": done.truth, "refused": done.refused}
    yield Measured("budget_error", case, error, "bytes", GOAL, (error,),
                   controlled(GOAL, "mapped memory taken for freed", bad),
                   f"{_OPERATIONS} operations, budget {_BUDGETS[case]}", notes)


def _error(context, library, case, operations):
    if not context.has(library):
        return None, None
    with tempfile.TemporaryDirectory() as directory:
        machine = allocations.Machine(Path(directory), context.build.gpu_libraries)
        done = machine.churn(context.build.program("sidecar_allocator"), library, _BUDGETS[case], threads=8,
                             operations=operations, seed=1, largest_kib=4096)
    return abs(done.used - done.truth) + abs(done.used_at_end - done.truth_at_end), done
