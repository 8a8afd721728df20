"""Runs thousands of gangs while certificates, Leases and tokens are replaced. Measures the extenders' memory and the
objects of the API server afterwards."""

import time
from dataclasses import dataclass, field

from testing import stats
from testing.cluster.control import NAMESPACE, SCHEDULER
from testing.cluster.gang_cluster import FAKE, POOL, GangCluster
from testing.cluster.gang_plays import Arrivals, fills
from testing.cluster.gangs import ANNOTATED
from testing.cluster.large_cluster import SWIFT, memory_mib
from testing.processes import Failed

_NODES, _GPUS, _AT_A_TIME, _LEASE_S = 16, 4, 32, 3
_SIZES, _RUNS_S = (1, 1, 2, 2, 4), (0.1, 0.5)
# Share of the gangs. After these, libraries, caches and the heap have their final size.
_WARM_UP = 1 / 3
# Share of the gangs after the warm-up. The median at their beginning is compared with that at their end.
_COMPARED = 1 / 5
_LOOK_EVERY = 10  # gangs
_PATIENCE_S, _PATIENCE_FOR_ONE_S = 120.0, 0.3
_JOB = {"how": ANNOTATED, "annotations": {"crossover.dev/gpu-memory": "30Gi"}, "nodeSelector": {POOL: FAKE}}
_LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{SCHEDULER}"
_SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/crossover-admission"
_KINDS = ("pods", "jobs.batch", "jobprofiles.crossover.dev", "gpunodes.crossover.dev", "secrets", "configmaps",
          "leases.coordination.k8s.io", "serviceaccounts")
CONDITION = (f"two replicas, a lease of {_LEASE_S} s, at most {_AT_A_TIME} gangs of 1 to 4 pods at a time, let in by "
             f"the webhook, on {_NODES} nodes of {_GPUS} GPUs that KWOK plays, with a controller-manager that has "
             f"{' '.join(SWIFT)}")


@dataclass
class Outcome:
    """`growth` is that of the extender that grew most, in MiB per 1,000 gangs. `leaked` has one text for each leak."""

    gangs: int
    growth: float
    memory_mib: tuple  # of each extender, at the end
    leaked: tuple
    replaced: dict = field(default_factory=dict)  # how often each was replaced


def growth(looks):
    """Returns the growth of memory in MiB per 1,000 gangs. `looks` is [(gangs until then, MiB)], in order. Raises
    Failed if there are too few."""
    warm = [look for look in looks if look[0] >= looks[-1][0] * _WARM_UP]
    few = int(len(warm) * _COMPARED)
    if few < 3:
        raise Failed(f"{len(looks)} looks at the memory are too few to compare")
    first, last = warm[:few], warm[-few:]
    gangs = stats.median([look[0] for look in last]) - stats.median([look[0] for look in first])
    return (stats.median([look[1] for look in last]) - stats.median([look[1] for look in first])) / gangs * 1000


class _Replacements:
    """Replaces each kind so many times, spread over the whole run. A replacement is in use before the next one is
    made."""

    def __init__(self, world, certificates, leases, tokens):
        self._world = world
        self._wanted = {"certificates": certificates, "leases": leases, "tokens": tokens}
        self.done = dict.fromkeys(self._wanted, 0)
        self._bundle = self._served_bundle()

    def step(self, part):
        """Makes what is due. `part` is the share of the gangs that have come, 0 to 1."""
        for what, count in self._wanted.items():
            if self.done[what] < count and part * (count + 1) >= self.done[what] + 1:
                if getattr(self, f"_{what}")():
                    self.done[what] += 1

    def _served_bundle(self):
        configuration = self._world.cluster.get("mutatingwebhookconfiguration", "crossover-admission")
        return [webhook["clientConfig"].get("caBundle") for webhook in configuration["webhooks"]]

    def _certificates(self):
        """Deletes the Secret; the leading extender then makes all of it anew."""
        now = self._served_bundle()
        if now == self._bundle and self.done["certificates"]:
            return False  # the replacement before this one is not in use yet
        self._bundle = now
        self._world.api.delete(_SECRET)
        return True

    def _leases(self):
        leads = self._world.control.leader()
        if leads is None or "_forced" in self._world.api.get(_LEASE)["spec"]["holderIdentity"]:
            return False  # there is no leader, or the made-up holder of the last time still holds it
        other = next(replica for replica in self._world.control.replicas if replica is not leads)
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
        self._world.api.apply(_LEASE, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                       "spec": {"holderIdentity": f"{other.host}_forced", "renewTime": now}})
        return True

    def _tokens(self):
        self._world.control.renew_token()
        return True


def play(build, gangs, seed, certificates=20, leases=20, tokens=3, pace=None, say=lambda text: None):
    """Runs the gangs and returns the Outcome. `pace` is how many gangs come each second; None: as many as can."""
    with _world(build) as world, world.control.reviving():
        before = _objects(world)
        extenders = _extenders(world)
        rhythm = {"pause_s": 1 / pace} if pace else {}
        arrivals = Arrivals(world, gangs, seed, most=_AT_A_TIME, sizes=_SIZES, runs_s=_RUNS_S, **rhythm, **_JOB)
        replacements = _Replacements(world, certificates, leases, tokens)
        looks = {replica.extender: [] for replica in world.control.replicas}

        def step():
            done = arrivals.step()
            come = len(arrivals.sizes)
            if come % _LOOK_EVERY == 0 and come > (looks["extender-0"] or [(0,)])[-1][0]:
                for name, seen in looks.items():
                    seen.append((come, memory_mib(world.cluster.processes.inner(name))[0]))
                if come % (20 * _LOOK_EVERY) == 0:
                    now = [round(seen[-1][1], 1) for seen in looks.values()]
                    say(f"    {come} gangs, {replacements.done}, {now} MiB")
            replacements.step(come / gangs)
            return done

        world.until(step, "all gangs have run", _PATIENCE_S + gangs * (_PATIENCE_FOR_ONE_S + rhythm.get("pause_s", 0)))
        if _extenders(world) != extenders:
            raise Failed("an extender has ended meanwhile: what it had grown by is not known")
        leaked = [f"{name} keeps a reservation" for name in sorted(world.lives.reserved())]
        leaked += [f"{gpu} was given twice" for gpu in sorted(world.judge.found)]
        fills(world, _NODES * _GPUS, **_JOB)
        leaked += sorted(_objects(world) - before)
        missing = {what: count for what, count in replacements.done.items()
                   if count < {"certificates": certificates, "leases": leases, "tokens": tokens}[what]}
        if missing:
            raise Failed(f"replaced less often than was wanted: {missing}")
        return Outcome(gangs, max(map(growth, looks.values())), tuple(seen[-1][1] for seen in looks.values()),
                       tuple(leaked), replacements.done)


def never_going(build, gangs):
    """The control: gangs for which nothing is free, and that stay. Returns (growth, number of objects that are left).
    """
    with _world(build) as world:
        before = _objects(world)
        first = memory_mib(world.cluster.processes.inner("extender-0"))[0]
        for number in range(gangs):
            world.create(f"stays-{number}", 2, how=ANNOTATED, nodeSelector={POOL: "nowhere"})
        world.until(lambda: len(world.lives.pods()) == 2 * gangs, "their pods are there")
        world.until(lambda: not world.lives.untold(), "they know why they wait")
        last = memory_mib(world.cluster.processes.inner("extender-0"))[0]
        return (last - first) / gangs * 1000, len(_objects(world) - before)


def _extenders(world):
    """Returns the extenders' process IDs. An extender that was restarted has another one."""
    return {replica.extender: world.cluster.processes.inner(replica.extender) for replica in world.control.replicas}


def _objects(world):
    """Returns the objects of the API server, except those that come by themselves: events, the kubelets' Leases, and
    the Secret to which tokens are bound."""
    each = "{.kind}/{.metadata.namespace}/{.metadata.name}{'\\n'}"
    found = world.cluster.kubectl("get", ",".join(_KINDS), "--all-namespaces", "--output",
                                  f"jsonpath={{range .items[*]}}{each}{{end}}")
    others = (f"Secret/{NAMESPACE}/token-", "Lease/kube-node-lease/")
    return {line for line in found.split() if not line.startswith(others)}


def _world(build):
    return GangCluster(build, _NODES, _GPUS, control={"replicas": 2, "lease_s": _LEASE_S, "webhook": True},
                       controllers=SWIFT)
