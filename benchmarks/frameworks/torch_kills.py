"""torch_kills counts what goes wrong where ranks of an unmodified PyTorch job are killed at random moments: the job
does not come back under torchrun, or the DDP job beside it ends or takes no more turns. torch_kills_p99 is the time
from the kill of a holder until the neighbour that is ready has its turn.

Controls: torchrun may not start the job again, which must be seen; a library without its liveness word, whose death is
known only once the kernel has torn its memory down.
"""

from benchmarks.frameworks import frameworks, torch_rank_kills
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats

GOAL, P99_GOAL = Goal("==", 0), Goal("<=", 5)
CASES = ("ddp",)
_MOMENTS, _CONTROL_MOMENTS = 50, 12
_SEED = 33
_SILENT = "silent_death"
_CONDITION = "a rank of a DDP job under torchrun, beside a DDP job; two ranks each on one node, mps"


def measure(context, case):
    with frameworks.required(context.build):
        found = torch_rank_kills.play(context.build, context.build.native_library, _MOMENTS, _SEED, say=context.say)
        stays = torch_rank_kills.play(context.build, context.build.native_library, 1, _SEED, restarts=0,
                                      say=context.say)
        silent = torch_rank_kills.play(context.build, context.build.known_bad(_SILENT), _CONTROL_MOMENTS, _SEED,
                                       say=context.say)
    p99 = stats.percentile(found.hand_over_ms, 99) if found.hand_over_ms else None
    late = stats.percentile(silent.hand_over_ms, 99) if silent.hand_over_ms else None
    conditions = {"kind": "program", "what": _CONDITION}
    bad = int(bool(found.wrong))
    yield Measured("torch_kills", case, bad, f"bad runs of 1, {len(found.kills)} kills", GOAL, (bad,),
                   controlled(GOAL, "torchrun starts no job again", int(bool(stays.kills and stays.wrong))), _CONDITION,
                   {"wrong": found.wrong}, conditions)
    yield Measured("torch_kills_p99", case, p99, "ms", P99_GOAL, found.hand_over_ms,
                   controlled(P99_GOAL, "a library without its liveness word", late), _CONDITION,
                   {"control_ms": silent.hand_over_ms}, conditions)
