"""interleavings counts the lives, out of 100,000 random lives of a cluster, in which the shipped code broke a rule.
`placement` tests the engine, with arrivals, ends, nodes that are lost and come back, GPUs that fail, pods that are
lost, and binds that fail. `gangs` tests the extender's gangs with that engine, between a made-up API server and
schedulers, with filter, bind, watch events, restarts and failures of the API in any order. Both are unit tests of
tests/unit/extender, where the rules are. The seeds are in the remarks.

Control: lives in which one thing is spoilt, of many kinds. Its value is how many kinds a test detected, or none if it
missed one.
"""

from benchmarks.runner import gtests
from benchmarks.runner.results import Goal, Measured, controlled

SCOPE = "component"
GPUS = "no GPUs"
CASES = ("placement", "gangs")
_GOAL = Goal("==", 0)
_LIVES, _LIMIT_S, _PROCESSES = 100_000, 3600, 2
_PROGRAMS = {"placement": ("placement_interleavings_test", "All/InterleavingsTest.*", "All/PlantedTest.*"),
             "gangs": ("gang_interleavings_test", "All/GangInterleavingsTest.*", "All/GangPlantedTest.*")}


def measure(context, case):
    program, lives, planted = _PROGRAMS[case]
    tests = _run(context, program, lives)
    broken = [failure["failure"] for test in tests for failure in test.get("failures", [])]
    spoilt = _run(context, program, planted)
    seen = [test["name"] for test in spoilt if not test.get("failures")]
    context.say(f"    {len(tests)} shards of {_LIVES} lives: {broken or 'no rule is broken'}; "
                f"{len(seen)} of {len(spoilt)} kinds of spoilt lives are seen")
    yield Measured("interleavings", case, len(broken), f"failures, at least, in {_LIVES} lives", _GOAL, (len(broken),),
                   controlled(_GOAL, "one thing is spoilt", len(seen) if len(seen) == len(spoilt) else 0),
                   f"seeds 0 to {_LIVES - 1}", {"broken": broken} if broken else {})


def _run(context, program, tests):
    return gtests.ran(context.build.program(program), tests, _LIMIT_S, _PROCESSES, {"CROSSOVER_SEEDS": str(_LIVES)})
