"""chain_helm measures as `chain_annotation` does, but the benchmark starts no part of Crossover: `helm install` does.
The jobs are in a namespace that enforces the level restricted of Pod Security.

chain_helm_daemon_error is the distance between the gain that a Prometheus reports and the gain by the trainers' own
step times.

Control: a library that passes its turn on only when the collective has ended, which an upgrade of the release installs.
"""

from benchmarks.cluster import chain_courses, pod_pairs
from benchmarks.cluster.cluster import left_out
from benchmarks.cluster.pod_pairs import CASES

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from pod_pairs.measured(context, case, "chain_helm", chain_courses.ByHelm)
