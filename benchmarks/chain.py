"""Two jobs of pods on a real Kubernetes, from kubelets' slots to turns: what figures of the whole chain measure."""

import json
import subprocess
import time
from pathlib import Path

from benchmarks import cluster, evaluate, pairs, shapes, stats
from benchmarks.commands import GRADIENT_BYTES
from benchmarks.processes import Failed
from benchmarks.results import Goal, Measured, controlled
from tests.cluster.control import Control
from tests.cluster.training import OWN_PRELOAD, TrainingJob, load_image

CASES = ("kube_1.36", "kube_1.34", "kube_1.31", "containerd_1.6")
_GOAL = Goal(">=", 0.95)
_ERROR_GOAL = Goal("<=", 0.03)
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=900, warm_up=60)
_DATA = Path(__file__).resolve().parents[1] / "examples" / "data" / "digits.csv"
_API = "/run/crossover/api.sock"
_LOOKS, _PAUSE_S, _PATIENCE_S = 12, 0.5, 60.0


class ByHand:
    """Whoever measures binds each pod, with the GPUs it is to have."""

    WORDS = "placed by hand"
    annotations, by_hand = {}, True

    def __init__(self, running, _context):
        self._machine = running.gpus.machine

    def place(self, jobs):
        for job in jobs:
            job.bind_everywhere(self._machine)

    def learn(self):
        pass

    def check(self):
        pass


class ByAnnotation:
    """The extender places them, beside a scheduler of its own, and knows of them what their annotations say."""

    WORDS = "placed by their annotation"
    _KEY = "digits"
    annotations, by_hand = {"crossover.dev/profile-key": _KEY}, False

    def __init__(self, running, context):
        self._control = Control(running.cluster, context.build)
        self._control.prepare()
        self._control.start()

    def place(self, jobs):
        pass

    def learn(self):
        self._control.await_profile(cluster.NAMESPACE, self._KEY)

    def check(self):
        self._control.check()


def measure(context, case, figure, placing):
    """`figure`, and `figure`_daemon_error; `placing`: ByHand or ByAnnotation."""
    with cluster.running(context.build, _SHAPE.machine(), service_routing=True, **cluster.versions(case)) as running:
        load_image(running.cluster, context.build, _DATA)
        placed = placing(running, context)
        jobs = _Jobs(context, running, placed)
        solo = evaluate.solo_of(jobs.run("alone")[0], _SHAPE.warm_up)
        placed.learn()
        job = shapes.job_shape(_SHAPE.variant, solo, solo, GRADIENT_BYTES, _SHAPE.ranks,
                               _SHAPE.machine().node_link_bytes_per_s)
        bound = evaluate.shared_bound([job] * 2, _SHAPE.machine())
        idle = _Idle()
        shared = [jobs.run_pair(number, solo, bound) for number in range(context.runs)]
        idle_share = idle.share()
        for node in running.cluster.nodes:
            running.daemons.configure(node, node_settings={"library": str(context.build.known_bad("late_release"))})
            _await_words(running, node, "configuration reloaded")
        late, _ = jobs.run_pair("late", solo, bound)
    etas = [found.eta for found, _ in shared]
    programs = running.cluster.setup.programs
    condition = _SHAPE.condition() + f", pods of Indexed Jobs, {placing.WORDS}, MPS"
    notes = {"cpu_idle_share": idle_share, "solo_step_ms": solo.step_ms,
             "cycles_ms": [found.cycle_ms for found, _ in shared],
             "losses_identical": jobs.losses_identical, "kubernetes": programs.kube_version,
             "containerd": programs.containerd_version}
    yield Measured(figure, case, stats.median(etas), "1", _GOAL, tuple(etas),
                   controlled(_GOAL, "release after the collective", late.eta), condition, notes)
    errors = [abs(gain / found.gain - 1) if gain else None for found, gain in shared]
    error = None if None in errors else stats.median(errors)
    yield Measured(f"{figure}_daemon_error", case, error, "of the gain", _ERROR_GOAL, tuple(errors), None,
                   condition, {"daemon": [gain for _, gain in shared], "trainers": [found.gain for found, _ in shared]})


def _await_words(running, node, words, patience_s=20.0):
    end = time.monotonic() + patience_s
    while words not in running.daemons.said(node):
        if time.monotonic() > end:
            raise Failed(f"the daemon of {node.name} does not say '{words}'")
        time.sleep(0.05)


class _Jobs:
    """Runs jobs with a rank on every GPU."""

    def __init__(self, context, running, placed):
        self._context, self._running, self._placed = context, running, placed
        self.losses_identical = True
        self._digest = None  # of the losses of the first job, which the first of each pair repeats

    def run(self, *names, during=lambda: None):
        machine = self._running.gpus.machine
        jobs = [TrainingJob(self._running.cluster, cluster.NAMESPACE, _SHAPE.job(name, seed), machine.ranks,
                            annotations=self._placed.annotations, by_hand=self._placed.by_hand,
                            environment=OWN_PRELOAD if seed == 2 else None)
                for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        self._placed.place(jobs)
        during()
        found = [job.finish() for job in jobs]
        self._running.daemons.check()
        self._placed.check()
        self._digest = self._digest or found[0].digest
        return found

    def run_pair(self, number, solo, bound):
        """(`evaluate.Shared`, the gain that the daemon shows while they run)."""
        gains = []
        found = self.run(f"alpha-{number}", f"beta-{number}", during=lambda: gains.extend(self._gains()))
        if found[0].digest != self._digest:
            self.losses_identical = False
        shared = evaluate.shared_of(found, [solo] * 2, bound, _SHAPE.warm_up)
        self._context.say(f"    run {number}: eta {shared.eta:.4f}, gain {shared.gain:.3f}, the daemon says {gains}")
        return shared, stats.median(gains) if gains else None

    def _gains(self):
        """Of the first node's GPUs, some seconds after it was measured what each job takes alone."""
        node = self._running.cluster.nodes[0]
        command = node.enter([str(self._context.build.cli), "top", "-o", "json", "--socket", _API])
        known, end = [], time.monotonic() + _PATIENCE_S
        while len(known) < _LOOKS and time.monotonic() < end:
            time.sleep(_PAUSE_S)
            top = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            gpus = top.get("gpus", [])
            gains = [gpu["gain"] for gpu in gpus if "gain" in gpu]
            clients = [client for job in top.get("jobs", []) for client in job["clients"]]
            sources = {client.get("alone", {}).get("source") for client in clients}
            if sources == {"measured"} and gpus and len(gains) == len(gpus):
                known.append(stats.mean(gains))
        return known[len(known) // 2:]  # its steps are means over ten seconds


class _Idle:
    """The share of all cores' time that nobody used, since it was made."""

    def __init__(self):
        self._before = self._now()

    @staticmethod
    def _now():
        fields = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    def share(self):
        (total, idle), (before, idle_before) = self._now(), self._before
        return round((idle - idle_before) / max(1, total - before), 3)
