"""kit_large is the memory of the host that a large model takes on the software GPU: a transformer of seven billion
parameters, sharded by PyTorch's FSDP2 over four ranks, with AdamW. Large copies and collectives are hollow. It is the
largest sum, over the run, of what the ranks and their launcher hold, in which memory that several of them share counts
once (Pss). kit_large_peak is the GPU memory that each rank says it has used.

Control: the same with copies and collectives that move bytes. It is stopped once it holds more than the goal allows.
"""

import re
import tempfile
import time
from pathlib import Path

from benchmarks.frameworks import frameworks
from benchmarks.runner.results import Goal, Measured, controlled
from testing.frameworks import family, software_gpu
from testing.processes import Failed

GOAL = Goal("<=", 16)
SCOPE = "component"
CASES = ("fsdp_7b",)
_RANKS, _STEPS = 4, 2
_HOLLOW = ("hollow_copies_from: 1048576", "hollow_collectives_from: 1048576")
_LINK_BYTES_PER_S = 100e9
_POLL_S = 0.2
_SAID = re.compile(r"^rank \d done, peak (\d+) bytes$", re.MULTILINE)


def measure(context, case):
    with frameworks.required(context.build):
        gib, said = _most(context.build, _HOLLOW)
        solid, _ = _most(context.build, ())
    peaks = [int(peak) / 2**30 for peak in _SAID.findall(said)]
    parameters = re.search(r"^parameters (\d+)$", said, re.MULTILINE)
    if len(peaks) != _RANKS or not parameters:
        raise Failed(f"expected {_RANKS} ranks that end and a number of parameters, got {said[-500:]}")
    what = f"{int(parameters.group(1)) / 1e9:.2f} billion parameters, FSDP2, {_RANKS} ranks on one node, {_STEPS} steps"
    conditions = {"kind": "program", "what": what}
    yield Measured("kit_large", case, gib, "GiB of the host", GOAL, (gib,),
                   controlled(GOAL, "copies and collectives move bytes", solid), what, {}, conditions)
    yield Measured("kit_large_peak", case, max(peaks), "GiB of each GPU", Goal("<="), tuple(peaks), None, what, {},
                   conditions)


def _most(build, options):
    """Returns (GiB that the job held at most, what it said). Ends the job where that is more than the goal allows."""
    most = 0.0
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory, \
            software_gpu.Machine(directory, build=build, gpus=_RANKS, link_bytes_per_s=_LINK_BYTES_PER_S,
                                 options=options) as machine:
        job = machine.start("large", "large.py", "--steps", _STEPS, recorded=False)
        while job.poll() is None and most <= GOAL.limit:
            most = max(most, sum(map(_pss_gib, family.descendants(job.pid))))
            time.sleep(_POLL_S)
        return most, machine.said("large") if most > GOAL.limit else machine.finish("large", job)


def _pss_gib(pid):
    """Returns what a process holds, 0 where it has just ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return int(re.search(r"^Pss:\s+(\d+) kB$", rollup, re.MULTILINE).group(1)) / 2**20
