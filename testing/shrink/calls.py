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
    "refused": RankSettings(environment={"SHRINK_TEST_BUILD": "own"}),
}
NARROWED = RankSettings()


def of_job(build, settings):
    """Returns {rank: lines}: the collectives in the order in which the ring ran them, with type and count, then how
    many kernels the rank launched, NCCL's among them, and how many bytes it received. Raises Failed where a rank
    fails."""
    with tempfile.TemporaryDirectory() as folder, Job(build, folder, scenario="kinds") as job:
        for rank in range(job.ranks):
            report = Path(folder, f"report.{rank}")
            report.mkdir()
            own = {**settings.environment, "SIMGPU_NCCL_TIMES": f"{folder}/calls.{rank}", "SIMGPU_REPORT": str(report)}
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
    kernels = sum(report["kernels"] for report in reports)
    received = sum(sum(report["received_bytes"].values()) for report in reports)
    return [*lines, f"kernels {kernels}", f"received {received} bytes"]


def differences(some, others):
    """Returns the lines that are in the one job only, or in another order."""
    return [line for rank in some for line in difflib.ndiff(some[rank], others[rank]) if line[0] in "+-"]
