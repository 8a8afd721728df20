"""hostile_node measures what malicious clients can do to a node's daemon.

`passes`, `listens_not`, `crowds` and `babbles` (benchmarks/isolation/hostile_sockets.py) measure the rate of a job
beside such a client, as in the figure hostile, and how much the arbiters grow.

`identity` counts attempts of a pod's process on a real Kubernetes (benchmarks/isolation/identity_theft.py) by which a
process was taken for another pod, or became a client of a GPU of which it has no slot. Control: a real process of the
other pod.

`newcomer` is how long a pod that comes late waits until it is let in, while a process of another pod `hogs`. Its value
is the worst, in seconds. Control: with room for 16 connections in all.
"""

import json
import time

from benchmarks.cluster import cluster
from benchmarks.isolation import hostile, hostile_sockets, identity_theft, turn_taker
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.rig import cgroups
from testing.machine import Machine
from testing.processes import Failed

GAINED_GOAL, NEWCOMER_GOAL = Goal("==", 0), Goal("<=", 1.0)
_WAYS = ("passes", "listens_not", "crowds", "babbles")
CASES = (*_WAYS, "identity", "newcomer")
_METRICS = ("metrics: {{listen: '{}:{}'}}".format(*hostile_sockets.METRICS),)
_MACHINE = Machine(nodes=1, gpus_per_node=2)
_IMAGE = "crossover.test/sleep:1"
_ROBBED, _ROBBER = "robbed", "robber"
_NOWHERE = "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff"
_NEWCOMERS, _LONGEST_WAIT_S, _HOGS_FOR_S = 5, 10.0, 2.0
_SETTLES_S = 0.5  # events reach the trace a moment later


def measure(context, case):
    if case in _WAYS:
        yield from hostile.measure_as("hostile_node", context, case, hostile_sockets.command, _METRICS)
    elif case == "identity":
        yield _identity(context)
    else:
        waits = _newcomers(context, {})
        shut_out = max(_newcomers(context, {"limits": {"connections": 16}}, 1))
        yield Measured("hostile_node", case, max(waits), "s until it is let in, worst", NEWCOMER_GOAL, tuple(waits),
                       controlled(NEWCOMER_GOAL, "room for 16 connections in all", shut_out),
                       f"two pods of one UID on a real kubelet; given up after {_LONGEST_WAIT_S:.0f} s", {},
                       {"kind": "cluster"})


def _identity(context):
    with cluster.running(context.build, _MACHINE) as running:
        node, gpus = running.cluster.nodes[0], running.gpus.uuids(0)
        running.cluster.image_of(_IMAGE, {"/bin/sleep": "/bin/sleep"})
        uid, robbed = cluster.new_pod(running, node, _ROBBED, _IMAGE, gpus=gpus[:1])
        _, robber = cluster.new_pod(running, node, _ROBBER, _IMAGE, gpus=gpus[:1])
        gained, said = {}, {}
        for name, attempt in _attempts(running, uid, robbed, robber).items():
            gained[name], said[name] = attempt()
            context.say(f"    {name}: {'gained' if gained[name] else 'nothing gained'}; {said[name]}")
        control = gained.pop("is it")
    return Measured("hostile_node", "identity", sum(gained.values()), f"attempts of {len(gained)} that gained",
                    GAINED_GOAL, tuple(int(each) for each in gained.values()),
                    controlled(GAINED_GOAL, "a process of the other pod in earnest", int(control)),
                    "two pods of a slot each, of the same GPU, on a real kubelet", {"gained": gained, "said": said},
                    {"kind": "cluster"})


def _newcomers(context, settings, count=_NEWCOMERS):
    """Returns how long each of `count` pods waits until it is let in, in seconds."""
    with cluster.running(context.build, _MACHINE, settings) as running:
        node, gpus = running.cluster.nodes[0], running.gpus.uuids(0)
        running.cluster.image_of(_IMAGE, {"/bin/sleep": "/bin/sleep"})
        _, late = cluster.new_pod(running, node, "late", _IMAGE, gpus=gpus[:1])
        _, hog = cluster.new_pod(running, node, "hog", _IMAGE, gpus=gpus[:1])
        cluster.start_client(running, node, hog, "hog",
                             hostile_sockets.command("hogs", cluster.ARBITER_SOCKET, "hog", gpus[:1]))
        cluster.await_words(running, "hog", "ready")
        time.sleep(_HOGS_FOR_S)
        return [_newcomer(context, running, node, late, gpus[0]) for _ in range(count)]


def _newcomer(context, running, node, groups, gpu):
    began = time.monotonic()
    cluster.start_client(running, node, groups, "late", turn_taker.command(cluster.ARBITER_SOCKET, "late", [gpu]))
    try:
        cluster.await_words(running, "late", "ready", _LONGEST_WAIT_S)
    except Failed as failure:
        context.say(f"    {failure}")
        return _LONGEST_WAIT_S
    finally:
        running.cluster.processes.stop(["late"])
    return time.monotonic() - began


def _attempts(running, uid, robbed, robber):
    """Returns a function for each attempt's name. It makes the attempt and returns whether it gained and what came of
    it. `uid` is the UID of the pod to be robbed. `robbed` and `robber` are control groups of the two pods."""
    node, (own, foreign) = running.cluster.nodes[0], running.gpus.uuids(0)
    nested = [group / "kubepods" / f"pod{uid}" for group in robber]
    slices = [group / f"kubepods-besteffort-pod{uid.replace('-', '_')}.slice" for group in robber]
    # A user who has a part of the tree of control groups delegated to him, and is in no pod, makes groups such as
    # these.
    user = [top / "user@1000.service" / "kubepods" / f"pod{uid}" for top in cgroups.find(node.cgroup)]

    def attempt(how, place=robber, forged=(), frozen=False, gpu=own):
        command = identity_theft.command(how, cluster.ARBITER_SOCKET, gpu, robbed, forged)
        return lambda: _attempt(running, command, place, frozen, how == "outlives" or gpu != own)

    return {"says so": attempt("says_so"), "says so, of no pod": attempt("says_so", place=()),
            "another GPU of the node": attempt("says_so", gpu=foreign),
            "a GPU that does not exist": attempt("says_so", gpu=_NOWHERE),
            "nested group": attempt("forges_group", forged=nested),
            "nested slice": attempt("forges_group", forged=slices),
            "group outside the kubelet's": attempt("forges_group", place=(), forged=user),
            "reused pid": attempt("reuses_pid"),
            "reused pid before it is looked at": attempt("reuses_pid", frozen=True),
            "passed socket": attempt("passes_socket"), "outlived": attempt("outlives"), "is it": attempt("is_it")}


def _attempt(running, command, place, frozen, welcome_is_gain):
    """Returns whether the attempt gained, and what came of it. `frozen`: the daemon stands still while the attempt is
    prepared."""
    node, daemons = running.cluster.nodes[0], running.daemons
    tail, said_before = daemons.trace_tail(node), len(daemons.said(node))
    if frozen:
        daemons.freeze(0)
    cluster.start_client(running, node, place, "attempt", command)
    if frozen:
        cluster.await_words(running, "attempt", "dealt")
        daemons.thaw(0)
    welcomed = json.loads(cluster.await_words(running, "attempt", '{"welcomed"'))["welcomed"]
    time.sleep(_SETTLES_S)
    joined = [event.gang for event in tail.news() if event.event == "join"]
    running.cluster.processes.stop(["attempt"])
    time.sleep(_SETTLES_S)
    gained = welcomed if welcome_is_gain else f"{cluster.NAMESPACE}/{_ROBBED}" in joined
    said = [line for line in daemons.said(node)[said_before:].splitlines() if "refused" in line or "left" in line]
    return gained, {"welcomed": welcomed, "joined_as": joined, "daemon": said[-3:]}
