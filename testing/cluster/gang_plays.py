"""Creates and ends gangs on a cluster (gang_cluster.py) in the ways that tests and measurements share."""

import random
import time
from dataclasses import dataclass

from testing.cluster.fake_gpus import uuid
from testing.cluster.gang_cluster import FAKE, POOL
from testing.cluster.gangs import BY_HAND, bind_by_hand
from testing.processes import Failed

SIZES = (1, 2, 4, 8, 8, 16)
_PAUSE_S = 0.05
_RUNS_S = (0.5, 2.5)


@dataclass
class _Due:
    runs_s: float
    whole_s: float = None


class Arrivals:
    """Creates gangs at random moments. Each runs once all its pods are bound, as training does, and is then deleted. A
    gang that never becomes whole keeps the GPUs that it has.

    `count` gangs come; None means until `stop`. Never more than `most` exist at a time. Sizes are drawn from `sizes`.
    `runs_s` has the shortest and the longest run; `pause_s` is the mean time between two arrivals."""

    def __init__(self, world, count, seed, prefix="gang", most=1000, sizes=SIZES, runs_s=_RUNS_S, pause_s=_PAUSE_S,
                 **job):
        self._world, self._left, self._most, self._pause_s = world, count, most, pause_s
        self._sizes, self._runs_s = sizes, runs_s
        self._prefix, self._job, self._draw = prefix, job, random.Random(seed)
        self._next_at = 0.0
        self._due = {}  # {gang: how long it runs, and since when}
        self._running = set()
        self.sizes = {}

    def come(self):
        """Blocks until the last gang has come."""
        self._world.until(lambda: self.step() or self._left == 0, "they come")

    def stop(self):
        self._left = 0

    def step(self):
        """Creates the gang that is due and deletes those that have run for their time. Call it again and again. Returns
        whether all gangs have come and gone."""
        now = time.monotonic()
        if self._left != 0 and now >= self._next_at and len(self._running) < self._most:
            self._next_at = now + 2 * self._draw.random() * self._pause_s
            self._left = None if self._left is None else self._left - 1
            self._begin()
        for name in list(self._running):
            self._look_at(name, now)
        return self._left == 0 and not self._running and not self._world.lives.pods(*self.sizes)

    def clear(self):
        """Deletes the gangs that are left."""
        self._left = 0
        self._world.remove(*self._running)
        self._running.clear()

    @property
    def unfinished(self):
        return sorted(self._running)

    def _begin(self):
        name, size = f"{self._prefix}-{len(self.sizes)}", self._draw.choice(self._sizes)
        self.sizes[name], self._due[name] = size, _Due(self._draw.uniform(*self._runs_s))
        self._running.add(name)
        self._world.create(name, size, **self._job)

    def _look_at(self, name, now):
        due = self._due[name]
        if due.whole_s is None and self._world.lives.was_whole(name):
            due.whole_s = now
        if due.whole_s is not None and now > due.whole_s + due.runs_s:
            self._world.end(name)
            self._running.remove(name)


def meet(world, size, others, **job):
    """Tells whether two gangs get the same GPUs, each pod of one beside a pod of the other, by what their nodes say.
    `others` is the number of GPUs besides theirs: a third gang, created between the two, takes all of these."""
    for name, pods in (("alpha", size), ("filler", others), ("beta", size)):
        world.create(name, pods, **job)
        world.until_whole(name)
    met = _have_met(world, size)
    world.remove("alpha", "filler", "beta")
    return met


def _have_met(world, size):
    jobs = "alpha", "beta"
    world.until(lambda: all(len(world.judge.held(job)) == size for job in jobs), "nodes say who is there")
    alpha, beta = map(world.judge.held, jobs)
    return alpha == beta and len(set(alpha)) == size


def meet_by_hand(world, size, shift):
    """Does as `meet`, but the test binds the pods and puts the second gang `shift` GPUs further. This is the
    control."""
    gpus = fake_gpus_of(world)
    for name, first in (("alpha", 0), ("beta", shift)):
        place(world, name, gpus[first:first + size])
    met = _have_met(world, size)
    world.remove("alpha", "beta")
    return met


def fake_gpus_of(world):
    """Returns (node, UUID) of all GPUs on nodes that KWOK plays."""
    return [(node, uuid(node, gpu)) for node in world.nodes for gpu in range(world.gpus_of_node)]


def place(world, name, gpus):
    """Creates a gang with a pod on each of these GPUs, (node, UUID). The test binds the pods; the extender has no part
    in it."""
    world.create(name, len(gpus), how=BY_HAND, nodeSelector={POOL: FAKE})
    world.until(lambda: len(world.lives.pods(name)) == len(gpus), f"the pods of {name} are there")
    for pod, (node, gpu) in zip(world.lives.pods(name), gpus):
        bind_by_hand(world.api, pod, node, [gpu])
    world.until_whole(name)


@dataclass(frozen=True)
class Large:
    """Holds what one large gang took. `more_threads` and `more_files` are the most that the extender had beyond those
    before the gang came. Each bind that is held is a connection, and so a file."""

    bound: int
    threads: int
    more_threads: int
    more_files: int


def large_gang(world, size, patience_s=120.0, **job):
    """Creates a gang of many pods, waits until the barrier has let it through, and removes it."""
    name, extender = f"of-{size}", world.control.leader().extender
    threads, files = [world.control.threads(extender)], [world.control.files(extender)]
    world.create(name, size, **job)
    end = time.monotonic() + patience_s

    def done():
        threads.append(world.control.threads(extender))
        files.append(world.control.files(extender))
        return world.lives.whole(name) or time.monotonic() > end
    world.until(done, f"{name} is bound", patience_s + 10.0)
    bound = len(world.lives.life(name).here)
    world.remove(name)
    return Large(bound, max(threads), max(threads) - threads[0], max(files) - files[0])


def fills(world, gpus, patience_s=30.0, **job):
    """Raises Failed unless a gang of exclusive pods gets all these GPUs. It shows that no earlier gang has leaked
    one."""
    annotations = {**job.pop("annotations", {}), "crossover.dev/share": "exclusive"}
    world.create("fills", gpus, annotations=annotations, **job)
    end = time.monotonic() + patience_s
    world.until(lambda: world.lives.whole("fills") or time.monotonic() > end, "it is bound", patience_s + 10.0)
    whole, state = world.lives.whole("fills"), world.state()
    world.remove("fills")
    if not whole:
        raise Failed(f"not all GPUs can be had again: {state}")
