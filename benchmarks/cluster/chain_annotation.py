"""chain_annotation measures as `chain` does, but the pods are bound by the scheduler alone. The jobs ask for GPUs and
carry annotations, with `share` and a profile key. The webhook, the extender and the scheduler do the rest: they learn
the job that runs alone, and the jobs after it with the same key share.

Control: a library that passes its turn on only when the collective has ended.
"""

from benchmarks.cluster import chain_courses, pod_pairs
from benchmarks.cluster.cluster import left_out
from benchmarks.cluster.pod_pairs import CASES

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from pod_pairs.measured(context, case, "chain_annotation", chain_courses.ByAnnotation)
