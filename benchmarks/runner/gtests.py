"""Runs tests of a GoogleTest program for a figure, and reads their reports."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from testing.processes import Failed, dying_with_parent


def ran(program, tests, limit_s, processes=1, environment=None):
    """Runs the tests that a filter names, in so many processes, and returns the report of each test. Raises Failed if
    a process does not end in time or in order, or if the filter names none."""
    with tempfile.TemporaryDirectory() as folder:
        reports = [Path(folder, f"{index}.json") for index in range(processes)]
        running = [subprocess.Popen(
            dying_with_parent([str(program), f"--gtest_filter={tests}", f"--gtest_output=json:{report}"]),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {}), "GTEST_TOTAL_SHARDS": str(processes),
                 "GTEST_SHARD_INDEX": str(index)}) for index, report in enumerate(reports)]
        try:
            for process in running:
                process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise Failed(f"{program.name} still runs after {limit_s} s") from None
        finally:
            for process in running:
                process.kill()
                process.wait()
        ends = [process.returncode for process in running]
        if not set(ends) <= {0, 1}:  # 1: a test failed
            raise Failed(f"{program.name} ended with {ends}")
        found = [test for report in reports for suite in json.loads(report.read_text(encoding="utf-8"))["testsuites"]
                 for test in suite["testsuite"]]
    if not found:
        raise Failed(f"{program.name} has no tests {tests}")
    return found
