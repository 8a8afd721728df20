"""Draws small clusters that are full of gangs, and one more gang for which some may have to leave. Says which of them
are the best to leave, by trying every set, and what is wrong with those that left. It shares no code with the engine.
Pure.

All gangs are exclusive, so a GPU has one gang. A gang's pods have as many GPUs each.
"""

import itertools
import random
from dataclasses import dataclass, field

NODES, GPUS = 3, 2  # GPUs of each node
RANKS = {"low": 10, "middle": 20, "high": 1000}
FREE, BUDGET, NEVER, LOWEST = "free", "budget", "never", "lowest"  # what stands in the way of the one that waits
_KINDS = (FREE, FREE, BUDGET, FREE, FREE, NEVER, FREE, FREE, LOWEST, FREE)
_SAME_AGE_S = 1.0  # times in Kubernetes' objects are whole seconds, so the engine may see ages that differ by so much


@dataclass(frozen=True)
class Gang:
    name: str
    pods: int
    gpus: int  # of each pod
    rank: str
    budget: bool = False  # a disruption budget keeps all of its pods

    @property
    def all_gpus(self):
        return self.pods * self.gpus


@dataclass(frozen=True)
class Scene:
    seed: int
    kind: str
    gangs: tuple  # in the order in which they begin
    newcomer: Gang

    @property
    def preempts(self):
        return self.kind != NEVER

    def gang(self, name):
        return next(gang for gang in self.gangs if gang.name == name)

    def may_leave(self, gang):
        return self.preempts and not gang.budget and RANKS[gang.rank] < RANKS[self.newcomer.rank]


@dataclass
class Found:
    """Holds what happened.

    where   {gang: {node: its GPUs there}} before the newcomer came
    age_s   {gang: for how long it had run then}
    left    {gang: how many of its pods left}
    placed  whether the newcomer got a place"""

    where: dict
    age_s: dict
    left: dict = field(default_factory=dict)
    placed: bool = False


def scene(seed):
    draw, kind = random.Random(f"room {seed}"), _KINDS[seed % len(_KINDS)]
    free, gangs = [GPUS] * NODES, []
    while sum(free):
        gpus = draw.choice((1, 1, 2))
        room = sum(each // gpus for each in free)
        if not room:
            continue
        pods = draw.randint(1, min(room, 3))
        rank = "high" if kind == FREE and draw.random() < 0.2 else draw.choice(("low", "middle"))
        gangs.append(Gang(f"s{seed}-{len(gangs)}", pods, gpus, rank))
        for _ in range(pods):
            node = next(node for node in range(NODES) if free[node] >= gpus)
            free[node] -= gpus
    if kind == BUDGET:
        kept = draw.randrange(len(gangs))
        gangs[kept] = Gang(**(vars(gangs[kept]) | {"budget": True}))
    if kind == LOWEST:
        gangs = [Gang(**(vars(gang) | {"rank": "middle"})) for gang in gangs]
    pods, gpus = (NODES, GPUS) if kind == BUDGET else (draw.randint(1, 2), draw.choice((1, 1, 2)))
    rank = "middle" if kind == LOWEST else "high"
    return Scene(seed, kind, tuple(gangs), Gang(f"s{seed}-new", pods, gpus, rank))


def has_place(wanted, found, without):
    """Tells whether the newcomer has a place once these gangs have left."""
    free = [GPUS] * NODES
    for name, nodes in found.where.items():
        for node, gpus in nodes.items():
            free[node] -= 0 if name in without else gpus
    return sum(each // wanted.newcomer.gpus for each in free) >= wanted.newcomer.pods


def best(wanted, found):
    """Returns all sets of gangs that are the best to leave: the fewest, and of these the cheapest, those among them
    that are so within _SAME_AGE_S. Returns an empty list if no set may make room."""
    may = [gang for gang in wanted.gangs if wanted.may_leave(gang)]
    for count in range(1, len(may) + 1):
        good = [who for who in itertools.combinations(may, count)
                if has_place(wanted, found, {gang.name for gang in who})]
        if good:
            most = min(_cost(who, found, _SAME_AGE_S) for who in good)
            return [frozenset(gang.name for gang in who) for who in good if _cost(who, found, -_SAME_AGE_S) <= most]
    return []


def _cost(gangs, found, older_s):
    """Returns the GPU seconds of gangs that are older by so much than they look."""
    return sum(gang.all_gpus * (found.age_s[gang.name] + older_s) for gang in gangs)


def faults(wanted, found):
    """Returns {kind of fault: how many} of what left."""
    left = {name for name, pods in found.left.items() if pods}
    fine = best(wanted, found)
    return {
        "halves": sum(found.left[name] != wanted.gang(name).pods for name in left),
        "in_vain": len(left) if left and not found.placed else sum(
            has_place(wanted, found, left - {name}) for name in left),
        "inversions": sum(not wanted.may_leave(wanted.gang(name)) for name in left),
        "other": int(left not in fine) if fine else len(left),
        "no_place": int(bool(fine) and not found.placed)}


def by_pod(wanted, found):
    """Returns the Found of a scheduler that knows no gangs: on each node by itself it takes pods of the lowest rank
    until a pod of the newcomer fits, and it does not ask whether all of them do. This is a control."""
    left, pods = {}, 0
    for node in range(NODES):
        free = GPUS - sum(nodes.get(node, 0) for nodes in found.where.values())
        here = sorted((gang for gang in wanted.gangs if found.where[gang.name].get(node) and wanted.may_leave(gang)),
                      key=lambda gang: (RANKS[gang.rank], gang.name))
        for gang in here:
            if free >= wanted.newcomer.gpus or pods == wanted.newcomer.pods:
                break
            left[gang.name] = left.get(gang.name, 0) + 1
            free += gang.gpus
        pods += min(free // wanted.newcomer.gpus, wanted.newcomer.pods - pods)
    return Found(found.where, found.age_s, left, pods == wanted.newcomer.pods)
