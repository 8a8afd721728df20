"""torch_budget counts what an unmodified program of PyTorch says otherwise under a memory budget than on a GPU of that
size without the library: the memory that torch.cuda.mem_get_info, nvidia-ml-py and PyTorch's allocator report before
the first block, when no further block fits, after a block for which the allocator frees others and tries again, and at
the end; how often the allocator tries again and gives up; and the words of the error.

Control: a budget that is one page larger.
"""

from benchmarks.frameworks import frameworks
from benchmarks.runner.results import Goal, Measured, controlled
from testing.frameworks import budgets

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = tuple(budgets.ALLOCATORS)
_BUDGET_MIB = 1001  # no multiple of a page


def measure(context, case):
    with frameworks.required(context.build):
        expected = budgets.on_a_gpu_of(_BUDGET_MIB, case, context.build)
        found, more = (budgets.differences(budgets.with_a_budget_of(mib, case, context.build), expected)
                       for mib in (_BUDGET_MIB, _BUDGET_MIB + budgets.PAGE_MIB))
    for text in found:
        context.say(f"    {text}")
    yield Measured("torch_budget", case, len(found), "differences", GOAL, (len(found),),
                   controlled(GOAL, "a budget one page larger", len(more)),
                   f"one process with a budget of {_BUDGET_MIB} MiB, beside a GPU of that size; allocator {case}",
                   {"compared": len(expected), "differences": found, "control_saw": more})
