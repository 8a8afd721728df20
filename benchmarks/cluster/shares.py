"""shares runs a job whose ranks are unlike on a real Kubernetes: four ranks of an Indexed Job that asks for shares of
the batch by speed (crossover.dev/batch-shares). Crossover measures the ranks, writes the weights, and the job heeds
them.

shares         the step once no weights change any more, over the step of ideal shares, by c and m as they are set. The
               ideal parts need not be whole images. A step is the median over seconds of the mean step within a second
shares_losses  the farthest that the loss of an iteration is from that of the same job with equal shares, which runs
               without Crossover: the sum over the ranks' images is the same, but for the rounding

speeds      the GPUs have the speeds 1, 1, 0.5 and 0.25
shared_gpu  another job of one rank takes turns with one of the ranks

Controls: equal shares, in the same run before the first change; gradients that count as if shares were equal.
"""

import contextlib
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.cluster import cluster
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, session, stats
from testing.cluster.control import Control
from testing.cluster.rig import phase
from testing.cluster.training import TrainingJob, load_image
from testing.processes import Failed

CASES = ("speeds", "shared_gpu")
_GOAL = Goal("<=", 1.05)
_LOSSES_GOAL = Goal("<=", 1e-3)  # rounding adds up over thousands of iterations
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_JOB, _OTHER = "unlike", "other"
_APART = "apart"  # namespace of the other job
_ANNOTATIONS = {"crossover.dev/profile-key": _JOB, "crossover.dev/batch-shares": "true"}
_SETTLE_S = 60.0  # of the extender, whose default is 120
_SPEEDS = (1, 1, 0.5, 0.25)
# Images of one rank with equal shares: one image more or less is under 1% of a step. The loss of a slow rate of
# learning stays well above the rounding.
_TRAINING = ("--batch=128", "--learning-rate=0.001", "--momentum=0")
_SHAPE = pairs.Shape(0.2, compute_ms=40.0)
_COUNTED_S = 20.0  # the end of the job
_BEFORE_S = 10.0  # of equal shares, right before the first change
_ALONE_S = 20.0  # of the job, before another comes


@dataclass(frozen=True)
class _Case:
    """`flags` are those of the job. With `other_ms` another job computes for so long in each of its iterations, on the
    GPU of the first rank."""

    flags: tuple
    iterations: int
    other_ms: float = 0.0

    def ideal_ms(self):
        """Returns the step of ideal shares. In the step T the first rank can compute for T - `other_ms`, because the
        other job computes while this one communicates, and each other rank for T - m."""
        work, wait_ms = _SHAPE.compute_ms * _SHAPE.ranks, _SHAPE.compute_ms * _SHAPE.ratio
        if not self.other_ms:
            return work / sum(_SPEEDS) + wait_ms
        return (work + self.other_ms + (_SHAPE.ranks - 1) * wait_ms) / _SHAPE.ranks

    def words(self):
        if self.other_ms:
            return f"another job of one rank, c = {self.other_ms:g} ms, on one of its GPUs"
        return "speeds " + ", ".join(map(str, _SPEEDS))


_CASES = {"speeds": _Case((f"--speeds={','.join(map(str, _SPEEDS))}",), 2600),
          "shared_gpu": _Case((), 4500, other_ms=40.0)}


def measure(context, case):
    taken = _CASES[case]
    shape = replace(_SHAPE, iterations=taken.iterations, extra=(*_TRAINING, *taken.flags))
    job = _in_cluster(context, taken, shape)
    changes = [rank.summary.get("shares", []) for rank in job.ranks]
    if not changes[0]:
        raise Failed("the job got no weights")
    at = [change["iteration"] for change in changes[0]]
    ended = job.ranks[0].iterations
    if ended[at[-1]].end_ns > ended[-1].end_ns - _COUNTED_S * 1e9:
        raise Failed(f"weights changed at iteration {at[-1]}: expected none in the last {_COUNTED_S:g} s")
    equal_ms, step_ms = _step_ms(_last(ended[:at[0]], _BEFORE_S)), _step_ms(_last(ended, _COUNTED_S))
    ideal_ms = taken.ideal_ms()
    images = [[change["images"] for change in rank] for rank in changes]
    context.say(f"    {equal_ms:.2f} ms with equal shares, {step_ms:.2f} ms at the end, ideal {ideal_ms:.2f} ms; "
                f"changes at {at} to {images}")
    condition = (f"a job of {shape.ranks} ranks, c = {shape.compute_ms:g} ms at speed 1, m/c = {shape.ratio:g}, "
                 f"{taken.words()}, pods of an Indexed Job, weights settle {_SETTLE_S:g} s")
    yield Measured("shares", case, step_ms / ideal_ms, "of the ideal step", _GOAL, (step_ms / ideal_ms,),
                   controlled(_GOAL, "equal shares", equal_ms / ideal_ms), condition,
                   {"step_ms": step_ms, "equal_ms": equal_ms, "ideal_ms": ideal_ms, "changes_at": at, "images": images})
    losses = _Losses(context, shape)
    farthest = losses.farthest_from_equal(job)
    yield Measured("shares_losses", case, farthest, "of the loss", _LOSSES_GOAL, (farthest,),
                   controlled(_LOSSES_GOAL, "gradients count as if shares were equal",
                              losses.unweighted([rank[-1] for rank in images])), condition)


def _in_cluster(context, case, shape):
    """Returns the log of the job, which runs in pods to its end."""
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(cluster.running(context.build, shape.machine(), service_routing=True))
        control = Control(running.cluster, context.build, settings={"shares": {"settle_s": _SETTLE_S}})
        control.prepare()
        control.start()
        load_image(running.cluster, context.build, _DATA)
        flags = replace(shape.job(_JOB, 1), extra=(*shape.extra, '--shares="$CROSSOVER_BATCH_SHARES"'))
        job = _Patient(running.cluster, cluster.NAMESPACE, flags, shape.ranks, annotations=_ANNOTATIONS, by_hand=False)
        job.create()
        if case.other_ms:
            for rank in range(shape.ranks):
                running.cluster.wait_for("pod", job.pod(rank)["metadata"]["name"], phase("Running"), cluster.NAMESPACE)
            time.sleep(_ALONE_S)
            _start_other(running, case, shape)
        found = job.finish()
        running.daemons.check()
        control.check()
        return found


class _Patient(TrainingJob):
    patience_s = 600.0


def _start_other(running, case, shape):
    """Starts the job of one rank, which runs until the cluster ends. It goes to the first GPU by hand: the extender
    would not slow all ranks of a job down for a gain on one GPU."""
    running.cluster.namespace(_APART)
    running.cluster.kubectl("label", "namespace", _APART, "crossover.dev/webhook=ignore")
    flags = replace(pairs.Shape(shape.ratio, compute_ms=case.other_ms, ranks=1, iterations=1_000_000).job(_OTHER, 2),
                    extra=(f"--stall-ms={shape.ratio * case.other_ms:g}",))
    other = TrainingJob(running.cluster, _APART, flags, 1, annotations={"crossover.dev/profile-key": _OTHER})
    other.create()
    machine = running.gpus.machine
    node, gpu = machine.place(0)
    other.bind([(running.cluster.nodes[node], machine.uuid(node, gpu))])


def _step_ms(iterations):
    """Returns the step of these iterations: the median over seconds of the mean within a second."""
    ends = [iteration.end_ns for iteration in iterations]
    means, first = [], 0
    for number, end in enumerate(ends):
        if end - ends[first] >= 1e9:
            means.append((end - ends[first]) / 1e6 / (number - first))
            first = number
    return stats.median(means)


def _last(iterations, seconds):
    """Returns the iterations that ended in the last `seconds` of these."""
    return [one for one in iterations if one.end_ns > iterations[-1].end_ns - seconds * 1e9]


class _Losses:
    """Compares losses with those of the same job as plain processes with equal shares, on fast GPUs and links."""

    def __init__(self, context, shape):
        self._context = context
        self._shape = replace(shape, compute_ms=1.0, extra=_TRAINING)
        self._equal = _mean_losses(self._run())

    def _run(self, *flags, iterations=None):
        shape = replace(self._shape, extra=(*self._shape.extra, *flags),
                        iterations=iterations or self._shape.iterations)
        plan = session.Plan(replace(shape.machine(), node_link_bytes_per_s=1e9), (shape.job("alone", 1),))
        return session.run(self._context.build, plan, pairs.MARK).job("alone")

    def farthest_from_equal(self, job, iterations=None):
        """Returns the farthest that a loss is from that with equal shares. The job makes so many iterations; by
        default as many as that one."""
        equal = self._equal[:iterations]
        return max(abs(a / b - 1) for a, b in zip(_mean_losses(job), equal, strict=True))

    def unweighted(self, images):
        """Returns the same of a job whose ranks have so many images and that does not weight its gradients."""
        with tempfile.TemporaryDirectory(prefix="crossover-shares-") as directory:
            weights = Path(directory) / "weights"
            weights.write_text(" ".join(str(round(1000 * each / max(images))) for each in images) + "\n",
                               encoding="ascii")
            job = self._run(f"--shares={weights}", "--share-fault=unweighted", iterations=300)
        return self.farthest_from_equal(job, 300)


def _mean_losses(job):
    """Returns the loss over the images of all ranks, for each iteration."""
    each = [[float.fromhex(iteration.loss) for iteration in rank.iterations] for rank in job.ranks]
    return [stats.mean(losses) for losses in zip(*each, strict=True)]
