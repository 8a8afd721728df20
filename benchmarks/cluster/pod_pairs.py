"""Measures two jobs of pods on a real Kubernetes, from the kubelet's slots to turns, for the figures of the whole
chain."""

from pathlib import Path

from benchmarks.cluster import cluster
from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import shapes
from testing import evaluate, pairs, stats, validity
from testing.cluster.training import OWN_PRELOAD, TrainingJob, load_image
from testing.commands import GRADIENT_BYTES

SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=900, warm_up=60)
CASES = ("kube_1.36", "kube_1.34", "kube_1.31", "containerd_1.6")
_GOAL = Goal(">=", 0.95)
_ERROR_GOAL = Goal("<=", 0.03)
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"


def measured(context, case, figure, course):
    """Yields `figure` and `figure`_daemon_error. `course` is a class of benchmarks.cluster.chain_courses."""
    with course(context, case) as taken:
        load_image(taken.cluster, context.build, _DATA)
        jobs = _Jobs(context, taken)
        solo = evaluate.solo_of(jobs.run("alone")[0], SHAPE.warm_up)
        taken.learn()
        job = shapes.job_shape(SHAPE.variant, solo, solo, GRADIENT_BYTES, SHAPE.ranks,
                               SHAPE.machine().node_link_bytes_per_s)
        bound = evaluate.shared_bound([job] * 2, SHAPE.machine())
        meter = validity.CpuMeter()
        shared = [jobs.run_pair(number, solo, bound) for number in range(context.runs)]
        idle_share = round(meter.idle(), 3)
        taken.bring(context.build.known_bad("late_release"))
        late, _ = jobs.run_pair("late", solo, bound)
    etas = [found.eta for found, _ in shared]
    programs = taken.cluster.setup.programs
    condition = SHAPE.condition() + f", pods of Indexed Jobs, {course.WORDS}, MPS"
    notes = {"cpu_idle_share": idle_share, "solo_step_ms": solo.step_ms,
             "cycles_ms": [found.cycle_ms for found, _ in shared],
             "losses_identical": jobs.losses_identical, "kubernetes": programs.kube_version,
             "containerd": programs.containerd_version}
    yield Measured(figure, case, stats.median(etas), "1", _GOAL, tuple(etas),
                   controlled(_GOAL, "release after the collective", late.eta), condition, notes)
    errors = [abs(gain / found.gain - 1) if gain else None for found, gain in shared]
    error = None if None in errors else stats.median(errors)
    yield Measured(f"{figure}_daemon_error", case, error, "of the gain", _ERROR_GOAL, tuple(errors), None,
                   condition, {course.WHO_SAYS: [gain for _, gain in shared],
                               "trainers": [found.gain for found, _ in shared]})


class _Jobs:
    """Runs jobs that have one rank on every GPU."""

    def __init__(self, context, taken):
        self._context, self._taken = context, taken
        self.losses_identical = True
        # This has the losses of the first job. The first job of each pair must repeat them.
        self._digest = None

    def run(self, *names):
        taken = self._taken
        ranks = taken.gpus.machine.ranks
        jobs = [TrainingJob(taken.cluster, cluster.NAMESPACE, SHAPE.job(name, seed), ranks,
                            annotations=taken.annotations, by_hand=taken.by_hand,
                            environment=OWN_PRELOAD if seed == 2 else None)
                for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        taken.place(jobs)
        found = [job.finish() for job in jobs]
        taken.check()
        self._digest = self._digest or found[0].digest
        return found

    def run_pair(self, number, solo, bound):
        """Returns `evaluate.Shared`, and the gain that Crossover itself reports, or None if it reports none."""
        with self._taken.watching() as gain:
            found = self.run(f"alpha-{number}", f"beta-{number}")
        if found[0].digest != self._digest:
            self.losses_identical = False
        shared = evaluate.shared_of(found, [solo] * 2, bound, SHAPE.warm_up)
        said = gain(found)
        self._context.say(f"    run {number}: eta {shared.eta:.4f}, gain {shared.gain:.3f}; "
                          f"{self._taken.WHO_SAYS} says {said}")
        return shared, said
