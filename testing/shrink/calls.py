"""Records what reaches the software GPU and its NCCL of a job, with libcrossover-shrink.so and without."""

import difflib
import json
import tempfile
from dataclasses import replace
from pathlib import Path

from testing.processes import Failed
from testing.shrink.job import Job, RankSettings

WITHOUT = RankSettings(file="none")
# In these no call may differ from those of a job without the file. All ranks refuse the vote of the last one.
UNCHANGED = {
    "without_the_word": RankSettings(file="shipped", shrink=""),
    "off": RankSettings(file="shipped", shrink="off"),
    "advise": RankSettings(file="shipped", shrink="advise"),
    "auto_off": RankSettings(file="shipped", shrink="auto", environment={"CROSSOVER_SHRINK_CHOICE": "off:not_needed"}),
    "auto_without_a_choice": RankSettings(file="shipped", shrink="auto"),
    "refused": RankSettings(environment={"SHRINK_TEST_BUILD": "own"}),
}
NARROWED = RankSettings()


def of_job(build, settings, nodes=(0, 0)):
    """Returns {rank: lines}: the collectives in the order in which the ring ran them, with type and count, then how
    many kernels the rank launched, NCCL's among them, and how many bytes it received. Kernels that the dry run says it
    has launched to measure errors do not count: its report has their number. `nodes` has the node of each rank. Raises
    Failed where a rank fails."""
    with tempfile.TemporaryDirectory() as folder, Job(build, folder, len(nodes), "kinds", nodes) as job:
        for rank in range(job.ranks):
            report = Path(folder, f"report.{rank}")
            report.mkdir()
            own = {**settings.environment, "SIMGPU_NCCL_TIMES": f"{folder}/calls.{rank}", "SIMGPU_REPORT": str(report),
                   "CROSSOVER_SHRINK_REPORT": f"{folder}/advice.{rank}."}
            if own.get("SHRINK_TEST_BUILD") == "own":
                own["SHRINK_TEST_BUILD"] = str(rank + 10)
            job.start(rank, replace(settings, environment=own))
        for rank, end in job.wait().items():
            if end.code != 0:
                raise Failed(f"rank {rank}: expected the end of the job, got {end}")
        return {rank: _lines(Path(folder), rank) for rank in range(job.ranks)}


def _lines(folder, rank):
    calls = map(json.loads, (folder / f"calls.{rank}").read_text(encoding="utf-8").splitlines())
    lines = [f"{call['call']} {call['type']} {call['count']}" for call in calls]
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (folder / f"report.{rank}").glob("*.json")]
    kernels = sum(report["kernels"] for report in reports) - _samples(folder, rank)
    received = sum(sum(report["received_bytes"].values()) for report in reports)
    return [*lines, f"kernels {kernels}", f"received {received} bytes"]


def _samples(folder, rank):
    """Returns how many kernels the dry run of a rank has launched, or 0 if it has made none."""
    said = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob(f"advice.{rank}.*.json")]
    return sum(kind.get("samples", 0) + kind.get("samples_unfinished", 0) for each in said for kind in each["kinds"])


def differences(some, others):
    """Returns the lines that are in the one job only, or in another order."""
    return [line for rank in some for line in difflib.ndiff(some[rank], others[rank]) if line[0] in "+-"]
