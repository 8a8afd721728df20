"""Reads from the reports of the software GPU how late its threads were."""

import json
from pathlib import Path


def lateness_us(directory):
    """Returns the greatest lateness at p99 of the processes that reported in this directory, in microseconds."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in Path(directory).glob("*.json")]
    return max(report[kind]["p99"] for report in reports for kind in ("kernel_late_us", "ring_step_late_us"))
