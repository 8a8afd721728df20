"""Makes a signed release of this tree once, for figures about releases."""

import functools
import tempfile

from testing.processes import Failed
from tools.trust import known_bad, tools
from tools.refused import Refused


def missing():
    """Returns what is missing for a release, or ""."""
    try:
        for name in ("syft", "cosign"):
            tools.program(name)
    except Refused as refused:
        return str(refused)
    return ""


@functools.lru_cache(maxsize=1)
def release():
    """Returns a known_bad.Release. Its own folder goes when the process ends."""
    try:
        made = known_bad.Release(_folder().name)
        made.finish()
    except Refused as refused:
        raise Failed(str(refused)) from refused
    return made


@functools.lru_cache(maxsize=1)
def _folder():
    return tempfile.TemporaryDirectory(prefix="crossover-release-")
