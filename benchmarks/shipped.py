"""What the chart's defaults say, for what is measured of the product as it ships."""

import re
from pathlib import Path

from benchmarks.processes import Failed

_VALUES = Path(__file__).resolve().parents[1] / "charts/crossover/values.yaml"


def slots_per_gpu(text=None):
    """How many jobs share a GPU at most. `text`: of a values.yaml; None: the chart's. Failed where it does not say so
    once."""
    found = re.findall(r"^ +slots_per_gpu: (\d+)$", _VALUES.read_text(encoding="utf-8") if text is None else text, re.M)
    if len(found) != 1:
        raise Failed(f"{_VALUES}: deviceplugin.config.node.slots_per_gpu: expected one whole number, got {found}")
    return int(found[0])
