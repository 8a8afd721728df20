"""framework_time is the processor time of a training on the CPU with the preloaded library over that without. The real
frameworks train, and plain Python (`stand_in`) trains where none is installed. The imports of a program do not count.
The two ways run alternately until the error is 0.007 or less (benchmarks/runner/compared.py). A case whose error stays
larger is void: it could not see what it is to see.

Control: a preload whose thread works for 2% of the program's time must miss the goal. framework_time_seen is how far
the measured values of preloads that work for 2% and for 4% are off.

framework_time_instructions is the same in instructions, which do not change with what else the machine does. It counts
the steps alone, as the difference of a long and a short run. Where the processor counts none for us (most virtual
machines), valgrind does, at a fiftieth of the speed.
"""

import ctypes
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.runner import compared, instructions
from benchmarks.runner.results import Goal, Measured, controlled
from testing.processes import Failed

GOAL = Goal("<=", 1.01)
ERROR = 0.007
SEEN_GOAL = Goal("<=", 0.01)
PLANTED = (0.02, 0.04)
SCOPE = "component"
_STEPS = {"stand_in": 400_000, "torch": 1500, "jax": 2500}
_INSTRUCTIONS = "_instructions"
CASES = (*_STEPS, *(case + _INSTRUCTIONS for case in _STEPS))
_CACHE = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover")
_PYTHON = _CACHE / "frameworks-1/bin/python"
_PROGRAMS = Path(__file__).resolve().parents[2] / "testing" / "frameworks" / "programs"
_ADDR_NO_RANDOMIZE = 0x0040000
# Each pair is a long and a short run, in steps. The difference is long enough to be that of the steps.
_COUNTED_STEPS = {"stand_in": (2000, 200), "torch": (120, 20), "jax": (220, 20)}


def left_out(case):
    """Returns why a case is not measured by default, or "" where it is."""
    if case.endswith(_INSTRUCTIONS) and not case.startswith("stand_in"):
        return "valgrind takes a quarter of an hour for it"
    return ""


def measure(context, case):
    name = case.removesuffix(_INSTRUCTIONS)
    python = Path(sys.executable) if name == "stand_in" else _PYTHON
    if not python.exists():
        context.say(f"    no {python}: tools/install.sh --frameworks")
        yield Measured("framework_time", case, None, "of that without the library", GOAL, ())
        return
    program = _PROGRAMS / f"train_{'plain' if name == 'stand_in' else name}.py"
    command = [str(python), "-B", str(program)]
    ways = {"library": context.build.library, **{share: _busy(context.build) for share in PLANTED}}
    if case == name:
        yield from _times(context, case, [*command, f"--steps={_STEPS[name]}", "--timed"], ways)
    else:
        yield from _instruction_lines(case, command, _COUNTED_STEPS[name], ways)


def _times(context, case, command, ways):
    def run(way):
        return trained_s(_output(command, environment(ways.get(way), way)))

    run(None)  # this run reads the files for the first time
    found = {}
    for way in ways:
        found[way] = compared.compare(run, way, None, ERROR)
        context.say(f"    {way}: {found[way].ratio:.4f} +- {found[way].error:.4f}, {len(found[way].samples)} pairs")
    plain_s = run(None)
    yield from judged(context.voids, case, found, f"on the CPU: no GPU, no arbiter; {plain_s:.2f} s without")


def judged(voids, case, found, condition):
    """Yields the lines of a case. `found` maps a way to its Comparison. A way is "library" or a planted share."""
    said = {str(way): {"ratio": one.ratio, "error": one.error, "pairs": len(one.samples)} for way, one in found.items()}
    blind = [f"{way}: the error is {one.error:.4f} after {len(one.samples)} pairs, expected {ERROR} or less"
             for way, one in found.items() if one.error > ERROR]
    voids.extend({"case": case, "why": why} for why in blind)
    library, least = found["library"], found[min(PLANTED)]
    control = controlled(GOAL, f"a preload whose thread works for {min(PLANTED):.0%} of the time",
                         None if blind else least.ratio)
    yield Measured("framework_time", case, None if blind else library.ratio, "of that without the library", GOAL,
                   library.samples, control, condition, {"found": said})
    seen = _seen("framework_time_seen", case, {share: found[share].ratio for share in PLANTED}, condition)
    yield replace(seen, value=None) if blind else seen


def _instruction_lines(case, command, steps, ways):
    def count(variables, planted=0):
        """Returns the instructions of the steps alone. The planted ones run in the long run."""
        if planted:
            variables = {**variables, "BUSY_INSTRUCTIONS": str(planted)}
        long, by = instructions.counted([*command, f"--steps={steps[0]}"], variables)
        if planted:
            variables = {**variables, "BUSY_INSTRUCTIONS": "0"}
        short, _ = instructions.counted([*command, f"--steps={steps[1]}"], variables)
        return long - short, by

    plain, by = count(environment(None, None))
    library = count(environment(ways["library"], "library"))[0] / plain
    seen = {share: count(environment(ways[share], share), int(share * plain))[0] / plain for share in PLANTED}
    control = controlled(GOAL, f"a preload that runs {min(PLANTED):.0%} more", seen[min(PLANTED)])
    condition = f"on the CPU: {steps[0] - steps[1]} steps, {plain} instructions without; {by}"
    yield Measured("framework_time_instructions", case, library, "of those without the library", GOAL, (library,),
                   control, condition)
    yield _seen("framework_time_instructions_seen", case, seen, condition)


def _seen(figure, case, ratios, condition):
    """Returns the line that tells how far the measured value of each planted share is off."""
    off = tuple(abs(ratio - 1 - share) for share, ratio in ratios.items())
    return Measured(figure, case, max(off), "of 1", SEEN_GOAL, off, None,
                    f"measured less planted, of {' and '.join(f'{share:.0%}' for share in ratios)}; {condition}")


def environment(library, way):
    """Returns the environment of a run. `way` is "library", the share that a busy preload works for, or None."""
    base = {**os.environ, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0",
            "CROSSOVER_GANG": "frameworks", "CROSSOVER_SOCKET": "/nonexistent/arbiter.sock"}
    if library is None:
        return base
    if not library.exists():
        raise Failed(f"{library} is not built")
    return {**base, "LD_PRELOAD": str(library), **({} if way == "library" else {"BUSY_SHARE": str(way)})}


def _busy(build):
    return build.top / "lib" / "libbusy_preload.so"


def trained_s(output):
    """Returns the processor seconds of the steps as the program prints them. Raises Failed where it prints none."""
    found = re.search(r"^trained: (\S+) \S+$", output, re.MULTILINE)
    if not found or float(found.group(1)) <= 0:
        raise Failed(f"no line 'trained: PROCESSOR_S S' among: {output[-200:]}")
    return float(found.group(1))


def _output(command, variables):
    """Returns what a program prints. Its memory lies at the same addresses each time, because the addresses change its
    speed. Raises Failed where the program fails."""
    libc = ctypes.CDLL(None)
    done = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          preexec_fn=lambda: libc.personality(_ADDR_NO_RANDOMIZE))
    if done.returncode != 0:
        raise Failed(f"{command[2]} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout
