"""preemption counts what is wrong with the gangs that leave for one of higher priority: half a gang, a gang that leaves
in vain, one that has no lower priority, or others than the best.

`scenes` plays the engine in 200 small clusters that are full. A referee without the engine's code tries everything. In
at least half of them gangs must leave, and in at least a quarter none may or can. Control: the same clusters, where
victims are chosen pod by pod.

`cluster` plays ten more, drawn otherwise, on a real control plane whose nodes KWOK plays: in most gangs may leave, in
the others a budget, the policy Never or ranks forbid it. testing/cluster/room_scenes.py judges. Control: pod by pod,
node by node.

`preemption_ms` is the time of one decision that makes gangs leave a cluster of 1,000 gangs. Control: 160,000 gangs.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import room_plays, room_scenes
from testing.cluster.rig import Refused
from testing.processes import Failed
from testing.programs import json_lines

SCOPE = "component"
GPUS = "no GPUs"
# A gang that waits, by its GPUs and the GPUs of each of its pods.
_NEEDS = {"plan_64": (64, 1), "plan_64_whole_nodes": (64, 8), "plan_256_whole_nodes": (256, 8)}
CASES = ("scenes", "cluster", *_NEEDS)
_GOAL = Goal("==", 0)
_TIME = Goal("<=", 1000, "worst", runs=5)
_SCENES = 200
_PLAYED = 10
_WRONG = ("halves", "in_vain", "inversions", "other")


def measure(context, case):
    program = context.build.program("placement_preempt")
    if case == "cluster":
        yield _played(context)
    else:
        yield _scenes(program) if case == "scenes" else _time(program, case)


def _played(context):
    wrong, bad, possible = [], [], 0
    try:
        with room_plays.room_cluster(context.build) as world:
            for seed in range(_PLAYED):
                scene = room_scenes.scene(seed)
                found = room_plays.play(world, scene)
                possible += bool(room_scenes.best(scene, found))
                wrong.append(room_scenes.faults(scene, found))
                bad.append(room_scenes.faults(scene, room_scenes.by_pod(scene, found)))
                context.say(f"    {scene}: {found}: {wrong[-1]}")
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    if not _PLAYED // 2 <= possible <= _PLAYED * 3 // 4:
        raise Failed(f"expected {_PLAYED // 2} to {_PLAYED * 3 // 4} clusters where gangs must leave, got {possible}")
    return Measured("preemption", "cluster", _sum(wrong), f"faults, in {_PLAYED} clusters", _GOAL,
                    tuple(sum(each.values()) for each in wrong), controlled(_GOAL, "victims pod by pod", _sum(bad)),
                    f"in {possible} of {_PLAYED} clusters gangs must leave, in the others none may or can",
                    {"by_cluster": wrong, "pod by pod": bad},
                    {"kind": "cluster", "what": "3 nodes of 2 GPUs, played by KWOK, full of exclusive gangs"})


def _sum(faults):
    return sum(sum(each.values()) for each in faults)


def _scenes(program):
    found = json_lines([program, "scenes", _SCENES], {})[0]
    if found["possible"] * 2 < _SCENES or found["not_possible"] * 4 < _SCENES:
        raise Failed(f"placement_preempt: expected {_SCENES // 2} clusters where gangs must leave and {_SCENES // 4} "
                     f"where none may, got {found}")
    bad = json_lines([program, "by_pod", _SCENES], {})[0]
    wrong = sum(found[key] for key in _WRONG)
    return Measured("preemption", "scenes", wrong, f"faults, in {_SCENES} clusters", _GOAL, (wrong,),
                    controlled(_GOAL, "victims pod by pod", sum(bad[key] for key in _WRONG)),
                    f"seeds 0 to {_SCENES - 1}: in {found['possible']} gangs must leave, in {found['not_possible']} "
                    "none may or can", {"the engine": found, "pod by pod": bad},
                    _conditions("small clusters that are full"))


def _time(program, case):
    gpus, each = _NEEDS[case]
    runs = [json_lines([program, "plan", 1000, gpus, each, seed], {})[0] for seed in range(1, 6)]
    faults = sorted({run["fault"] for run in runs} - {""})
    if faults:
        raise Failed(f"placement_preempt: {', '.join(faults)}")
    samples = tuple(run["plan_ms"] for run in runs)
    bad = json_lines([program, "plan", 160_000, gpus, each, 1], {}, timeout_s=600)[0]["plan_ms"]
    return Measured("preemption_ms", case, _TIME.of(samples), "ms", _TIME, samples,
                    controlled(_TIME, "160,000 gangs", bad),
                    f"1,000 gangs have GPUs, two on each set; one waits for {gpus} GPUs, {each} for each pod",
                    {"victims": [run["victims"] for run in runs]}, _conditions("a full cluster of 1,000 gangs"))


def _conditions(what):
    return {"kind": "model", "what": f"the engine that ships, in {what}"}
