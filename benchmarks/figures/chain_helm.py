"""chain_helm measures as `chain_annotation` does, but the benchmark starts no part of Crossover: `helm install` does.
The jobs are in a namespace that enforces the level restricted of Pod Security.

chain_helm_daemon_error is the distance between the gain that a Prometheus reports and the gain by the trainers' own
step times.

Control: a library that passes its turn on only when the collective has ended, which an upgrade of the release installs.
"""

from benchmarks import chain, chain_courses
from benchmarks.chain import CASES
from benchmarks.cluster import left_out

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from chain.measure(context, case, "chain_helm", chain_courses.ByHelm)
