"""Reads the chart's defaults, for figures that measure the product as it ships."""

import re
from pathlib import Path

from testing.processes import Failed

_VALUES = Path(__file__).resolve().parents[1] / "charts/crossover/values.yaml"


def slots_per_gpu(text=None):
    """Returns how many jobs share a GPU at most. `text` is that of a values.yaml; None: the chart's. Raises Failed if
    it does not say that exactly once."""
    found = re.findall(r"^ +slots_per_gpu: (\d+)$", _VALUES.read_text(encoding="utf-8") if text is None else text, re.M)
    if len(found) != 1:
        raise Failed(f"{_VALUES}: deviceplugin.config.node.slots_per_gpu: expected one whole number, got {found}")
    return int(found[0])
