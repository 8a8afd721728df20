"""chain_annotation: as `chain`, but nobody binds a pod. The jobs ask for GPUs and are annotated, with `share` and a
profile key; webhook, extender and scheduler do the rest: the one that runs alone is learnt, and those after it, of the
same key, share.

Control: a library that passes its turn on only when the collective has ended.
"""

from benchmarks import chain, chain_courses
from benchmarks.chain import CASES
from benchmarks.cluster import left_out

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from chain.measure(context, case, "chain_annotation", chain_courses.ByAnnotation)
