"""chain_helm: as `chain_annotation`, but nothing of Crossover is started by whoever measures: `helm install` puts it
there, and the jobs are in a namespace that enforces the level restricted of Pod Security.

chain_helm_daemon_error: how far the gain that a Prometheus says is from that of the trainers' own step times.

Control: a library that passes its turn on only when the collective has ended, which an upgrade of the release brings.
"""

from benchmarks import chain, chain_courses
from benchmarks.chain import CASES
from benchmarks.cluster import left_out

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from chain.measure(context, case, "chain_helm", chain_courses.ByHelm)
