"""max_slowdown counts the caps on slowdown that are broken by seeded pairs of jobs: in the job model, and in processes.

The pairs have c from 2 to 200 ms, m/c from 0 to 1, and caps from 1.1 to 2. What each job needs is known from a run
alone, as a profile. In a pair that cannot keep both caps, the second job is refused its own cap when it joins, and is
not counted. The first job keeps its cap all the same. max_slowdown_needless is the share of all pairs that are refused
although the fluid bound lets them. The remarks say of how many pairs a known schedule keeps both caps
(benchmarks/fairness/schedules.py): no schedule is known that reaches the fluid bound in all of them.

Controls: the same pairs without their caps; a rule that refuses every pair.
"""

import math
import random
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from benchmarks.fairness import schedules, unequal
from benchmarks.fairness.unequal import Group, Shape
from benchmarks.runner import kinds
from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import job_model

GOAL = Goal("<=", 0)
_NEEDLESS = Goal("<=", 0.1)
_PAIRS = {"harness": 200, "processes": 10}
_HAND_OVER_MS = 0.15
_LEAST_EXPOSED_MS = 0.5  # in processes: a collective of a few hundred bytes
SCOPE = {"harness": "component", "processes": "chain"}
CASES = tuple(_PAIRS)
_CONDITION = "c 2-200 ms, m/c 0-1, caps 1.1-2, seeds from 0"


@dataclass(frozen=True)
class _Outcome:
    shapes: tuple
    slowdowns: tuple
    refused: bool  # whether the second job is refused its cap

    @property
    def broken(self):
        held = self.shapes[:1] if self.refused else self.shapes
        return sum(slowdown > shape.max_slowdown for shape, slowdown in zip(held, self.slowdowns))

    @property
    def promises(self):
        return 1 if self.refused else 2

    @property
    def fluid(self):
        return sum(shape.use / shape.max_slowdown for shape in self.shapes) <= 1

    @property
    def known(self):
        """Tells whether a known schedule keeps both caps, at the cost of a hand-over in the rule that ships."""
        jobs = [(shape.compute_ms, shape.exposed_ms) for shape in self.shapes]
        return schedules.margin(jobs, [shape.max_slowdown for shape in self.shapes], _HAND_OVER_MS) >= 1

    def says(self):
        jobs = [[round(x, 3) for x in (s.compute_ms, s.exposed_ms, s.max_slowdown)] for s in self.shapes]
        return {"jobs": jobs, "slowdowns": [round(s, 3) for s in self.slowdowns], "refused": self.refused}


def measure(context, case):
    run = _in_model if case == "harness" else _in_processes
    pairs = [_pair(seed) for seed in range(_PAIRS[case])]
    outcomes = run(context, pairs, caps=True)
    bad = None if None in outcomes else run(context, pairs, caps=False)
    if None in outcomes:
        yield Measured("max_slowdown", case, None, "caps broken", GOAL, (), conditions=_conditions(case))
        return
    refused = [o for o in outcomes if o.refused]
    remarks = {"pairs": len(pairs), "promises": sum(o.promises for o in outcomes), "refused": len(refused),
               "refused though the fluid bound lets them": sum(o.fluid for o in refused),
               "the fluid bound lets": sum(o.fluid for o in outcomes),
               "a known schedule keeps": sum(o.known for o in outcomes),
               "broken": [o.says() for o in outcomes if o.broken]}
    if case == "processes":
        remarks["all"] = [o.says() for o in outcomes]
    broken_without = None if None in bad else sum(o.broken for o in bad)
    yield Measured("max_slowdown", case, sum(o.broken for o in outcomes), "caps broken", GOAL,
                   tuple(o.broken for o in outcomes), controlled(GOAL, "without caps", broken_without),
                   _CONDITION, remarks, _conditions(case))
    needless = tuple(float(o.refused and o.fluid) for o in outcomes)
    yield Measured("max_slowdown_needless", case, sum(needless) / len(needless), "of all pairs", _NEEDLESS, needless,
                   controlled(_NEEDLESS, "every pair refused", sum(o.fluid for o in outcomes) / len(outcomes)),
                   _CONDITION, {}, _conditions(case))


def _conditions(case):
    """Returns the conditions of pairs that are drawn at random."""
    drawn = {"c_ms": {"from": 2, "to": 200}, "m_over_c": {"from": 0, "to": 1}, "caps": {"from": 1.1, "to": 2}}
    if case == "harness":
        return kinds.of_job_model(2, 0, 0) | drawn
    return Group((Shape(20, 20),) * 2, ranks=2, links="private").conditions() | drawn


def _pair(seed):
    draw = random.Random(seed)
    shapes = []
    for _ in range(2):
        compute = math.exp(draw.uniform(math.log(2), math.log(200)))
        exposed = max(0.01, compute * draw.uniform(0, 1))
        shapes.append(Shape(compute, exposed, max_slowdown=draw.uniform(1.1, 2)))
    return tuple(shapes)


def _in_model(context, pairs, caps):
    def one(numbered):
        seed, shapes = numbered
        asked = {"caps": ",".join(f"{s.max_slowdown:.4f}" for s in shapes)} if caps else {}
        jobs = [(s.compute_ms, s.exposed_ms) for s in shapes]
        found = job_model.run(context.build, jobs, 40, seed=seed, **asked)
        return _Outcome(shapes, tuple(1 / rate for rate in found["rates"]), bool(found["refused"]))

    with ThreadPoolExecutor() as threads:
        return list(threads.map(one, enumerate(pairs)))


def _in_processes(context, pairs, caps):
    outcomes = []
    for shapes in pairs:
        shapes = tuple(replace(s, exposed_ms=max(s.exposed_ms, _LEAST_EXPOSED_MS)) for s in shapes)
        outcomes.append(_one(context, shapes, caps))
        context.say(f"    {outcomes[-1] and outcomes[-1].says()}")
        if outcomes[-1] is None:
            break
    return outcomes


def _one(context, shapes, caps):
    """Runs each job alone, under a daemon that keeps its profile, then both. Returns None where a run failed."""
    profiles = tempfile.mkdtemp(prefix="crossover-profiles-")
    try:
        settings = (f"profiles: {profiles}/{{node}}",)
        capped = tuple(s if caps else replace(s, max_slowdown=0) for s in shapes)
        group = Group(capped, ranks=2, links="private")
        solos = unequal.alone(context, group, context.build.library, settings)
        shared = solos and unequal.together(context, group, context.build.library, settings)
    finally:
        shutil.rmtree(profiles)
    if not shared:
        return None
    slowdowns = tuple(cycle / solo.step_ms for cycle, solo in zip(shared.cycles_ms, solos))
    return _Outcome(shapes, slowdowns, shared.refused != ())
