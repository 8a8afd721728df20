"""chain runs two jobs of pods on a real Kubernetes, from the kubelets' slots to turns. Its value is eta by the
trainers' own step times, against a job that ran alone on the same nodes minutes before. The image of the second job
preloads a library of its own.

chain_daemon_error is the distance between the gain that the daemon reports and the gain of the trainers, once the
daemon has measured what each job takes alone.

kube_* and containerd_* run on this version of the one and the usual version of the other. Versions that `make test`
does not need are measured where they are installed (tools/install.sh --matrix), or when a case is asked for by name.

Control: the same with a library that passes its turn on only when the collective has ended.
"""

from benchmarks.cluster import chain_courses, pod_pairs
from benchmarks.cluster.cluster import left_out
from benchmarks.cluster.pod_pairs import CASES

__all__ = ["CASES", "left_out", "measure"]


def measure(context, case):
    yield from pod_pairs.measured(context, case, "chain", chain_courses.ByHand)
