"""adverse is the work per time of two jobs with the guard on, on a software GPU that is less kind than usual: over the
best of one after the other and running freely, on the same GPU. The worst run counts. A run is as long as one of a
minute one after the other, and counts from the first turns on, so what the guard's looks cost is included. The free run
beside it is a third as long: it decides what the best other way is. A real GPU may have each of these traits, or none:
turns must not cost where they do not pay.

handover_N: a waiting stream goes on N us after the write; with 8 ms, turns do not pay any more. channels: a write waits
for all earlier work of its hardware channel, and most bytes overlap with compute. blocked: each wait at a word slows
the neighbour's kernels. switches: a switch of processes takes time, in time slices. early_waits: a wait reads its word
before the write in front of it is seen; ranks straggle, so that turns are taken back. loading: launches wait for the
context, and load, now and then.

adverse_beside and adverse_eta_beside are turns without the guard: the same ratio, and how much of the bound's gain is
left. Time slices have no such bound.

Controls: each trait but the hand-overs of 20 to 300 us is so strong that turns without the guard fall below 0.9 in the
cases that are declared. For 100 and 300 us a control with the hand-over of handover_8000 does so. Where a wait is
early, a library without barriers has two holders of a turn. Where launches wait for the context, the watchdog opens
turns.
"""

from dataclasses import asdict, dataclass, replace

from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import eta
from testing import evaluate, logs, pairs, stats

GOAL = Goal(">=", 0.98, "worst", runs=5)
_SHOWN = Goal(judged="median")
_STRONG, _NONE = Goal(">=", 0.9), Goal("==", 0)
_RATIOS = (0.3, 0.6, 1.0)
_GUARDED_S, _FREE_S = 60, 20  # as long as these, one after the other
_NO_BARRIER = "no_barrier"
_TWO_HOLDERS, _OPENINGS = "two holders", "openings"


@dataclass(frozen=True)
class _Trait:
    """One trait of a GPU, and how its strength is shown. `falls` has the ratios for which turns without the guard must
    fall below 0.9, with the options `strong` where the trait is not strong enough by itself. `counts` names what the
    control counts in place of that."""

    shape: pairs.Shape
    falls: tuple = ()
    strong: tuple = ()
    counts: str = ""


def _shape(unkind=(), **more):
    return pairs.Shape(0.6, **{"iterations": 200, "alone": 90, "unkind": tuple(unkind), **more})


# Most bytes travel beside compute with `channels`. The rest takes m if all of them together take so much of c.
_OVERLAPPED = {0.3: 0.208, 0.6: 0.288, 1.0: 0.395}
_LONG_HANDOVER = ("handover_us", 8000)


# Eight ranks of c = 10 ms take more than 60% of two cores, at which every run is void.
def _handover(us, *falls):
    return _Trait(_shape([("handover_us", us)], compute_ms=15.0, iterations=200, warm_up=40, alone=120), *falls)


_TRAITS = {
    **{f"handover_{us}": _handover(us) for us in (20, 50)},
    **{f"handover_{us}": _handover(us, (0.3,), (_LONG_HANDOVER,)) for us in (100, 300)},
    "handover_8000": _handover(_LONG_HANDOVER[1], (0.3,)),
    "channels": _Trait(_shape([("channel_order", "release"), ("channels", 1)], early_bytes=0.9), (0.6, 1.0)),
    "blocked": _Trait(_shape([("blocked_wait_ns", 300_000)]), (0.3,)),
    "switches": _Trait(_shape([("switch_us", 3500)], mode="timeslice", iterations=120), (0.3,)),
    "early_waits": _Trait(_shape(fault="early_waits_us:20000", tail=0.3), counts=_TWO_HOLDERS),
    "loading": _Trait(_shape([("lazy_loading", 400), ("loading_us", 300_000)]), counts=_OPENINGS),
}


def _at(name, trait, ratio):
    """Returns the shape of a trait's case whose m/c is `ratio`."""
    return replace(trait.shape, ratio=_OVERLAPPED[ratio] if name == "channels" else ratio)


_BY_CASE = {f"{name}_{ratio:g}": (trait, _at(name, trait, ratio), ratio) for name, trait in _TRAITS.items()
            for ratio in _RATIOS}
CASES = tuple(_BY_CASE)


@dataclass(frozen=True)
class _Run:
    """Holds one run of both jobs: the gain over one after the other, eta, and what the arbiters' traces count."""

    gain: float
    eta: float
    two_holders: int
    openings: int


@dataclass(frozen=True)
class _Round:
    """Holds the runs of the same jobs with the guard on, freely, and by turns without the guard."""

    guarded: _Run
    free: _Run
    bare: _Run

    def over_best(self, run):
        """Returns the gain of a run over the better of one after the other and running freely."""
        return run.gain / max(1.0, self.free.gain)


def measure(context, case):
    trait, shape, ratio = _BY_CASE[case]
    alone = eta.alone_of(context, shape)
    rounds = []

    def one():
        rounds.append(alone and _round(context, shape, ratio, alone))
        return rounds[-1] and rounds[-1].over_best(rounds[-1].guarded)

    value, samples = pairs.measured_by(context, GOAL, one)
    control = _control(context, trait, shape, ratio, alone, rounds) if value is not None else None
    condition, conditions = f"{shape.condition()}, exposed m/c {ratio:g}", shape.conditions(
        m_over_c=ratio, guarded_s=_GUARDED_S)
    yield Measured("adverse", case, value, "of the best other way", GOAL, samples, control, condition, {}, conditions)
    bare = _without_guard([found for found in rounds if found])
    for figure, unit, samples in bare if shape.mode == "mps" else bare[:1]:
        yield Measured(figure, case, _SHOWN.of(samples) if samples else None, unit, _SHOWN, samples, None,
                       f"{condition}, without the guard", {"runs": [asdict(found) for found in rounds if found]},
                       {**conditions, "guard": "off"})


def _without_guard(rounds):
    """Returns (figure, unit, samples) of the lines about turns without the guard."""
    return [("adverse_beside", "of the best other way", tuple(found.over_best(found.bare) for found in rounds)),
            ("adverse_eta_beside", "1", tuple(found.bare.eta for found in rounds))]


def _control(context, trait, shape, ratio, alone, rounds):
    """Returns the control of a case, or None where its trait need not be strong."""
    if trait.counts == _TWO_HOLDERS:
        with context.without_guard():
            bad = _run(context, shape, alone, context.build.known_bad(_NO_BARRIER))
        shipped = sum(run.two_holders for found in rounds for run in (found.guarded, found.bare))
        return controlled(_NONE, "two holders of a turn without barriers", bad and bad.two_holders, shipped)
    if trait.counts == _OPENINGS:
        return controlled(_NONE, "openings by the watchdog without the guard",
                          sum(found.bare.openings for found in rounds))
    if ratio not in trait.falls:
        return None
    if trait.strong:
        with context.without_guard():
            bad = _run(context, replace(shape, unkind=trait.strong), alone, context.build.library)
        words = ", ".join(f"{key} {value}" for key, value in trait.strong)
        return controlled(_STRONG, f"turns without the guard, {words}", bad and rounds[0].over_best(bad))
    return controlled(_STRONG, "turns without the guard, at the median",
                      stats.median(found.over_best(found.bare) for found in rounds))


def _round(context, shape, ratio, alone):
    """Runs the jobs in all three ways. Returns a _Round, or None where a run was void or failed. The other ways than
    the guard's are as they are from the beginning, so their runs are shorter."""
    guarded = _run(context, _lasting(shape, ratio, _GUARDED_S), alone, context.build.library)
    free = guarded and _run(context, _lasting(shape, ratio, _FREE_S), alone, None)
    with context.without_guard():
        bare = free and _run(context, shape, alone, context.build.library)
    return bare and _Round(guarded, free, bare)


def _lasting(shape, ratio, seconds):
    """Returns the shape with as many iterations as take so long one after the other."""
    return replace(shape, iterations=round(1e3 * seconds / (shape.jobs * (1 + ratio) * shape.compute_ms)))


def _run(context, shape, alone, library):
    """Runs both jobs. Returns a _Run, or None where the run was void or failed."""
    both = pairs.together(context, shape, library) if library is None or context.has(library) else None
    if both is None:
        return None
    solo, job = alone
    shared = pairs.rate(shape, both, solo, evaluate.shared_bound([job] * shape.jobs, shape.machine()))
    return _Run(shared.gain, shared.eta, logs.two_holders(both.trace), logs.openings(both.trace))
