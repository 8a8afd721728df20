"""chain: two jobs of pods on a real Kubernetes, from kubelets' slots to turns: eta by the trainers' own step times,
against a job that ran alone on the same nodes minutes before. The second job's image preloads a library of its own.

chain_daemon_error: how far the daemon's own figure of the gain is from that of the trainers', once it has measured what
each job takes alone.

kube_*, containerd_*: on this version of one, and the usual one of the other. What `make test` does not need is
measured where it is installed (tools/install.sh --matrix), or when it is asked for by name.

Control: the same with a library that passes its turn on only when the collective has ended.
"""

from benchmarks import chain, chain_courses
from benchmarks.chain import CASES
from benchmarks.cluster import left_out

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from chain.measure(context, case, "chain", chain_courses.ByHand)
