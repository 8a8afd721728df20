"""Tells whether the programs in a build directory are those of the sources, so that no figure names a revision that did
not run. tools/build.sh writes the file built_from when it has built everything, and removes it before it builds."""

import subprocess
from pathlib import Path

STAMP = "built_from"
_DIRTY = "-dirty"
# No program depends on these files.
_BESIDE = (":(exclude)docs", ":(exclude)benchmarks/results", ":(exclude)*.md", ":(exclude)*.py")


def why_not(build, sources=Path(__file__).parents[2]):
    """Returns why the programs in `build` may be those of other sources, or "" if they are not."""
    head = _git(sources, "rev-parse", "HEAD")
    if head is None or head.returncode != 0:
        return ""  # sources without a history have no revision that could be wrong
    stamp = Path(build) / STAMP
    expected = f"{stamp}: expected the revision of the sources, {head.stdout.strip()}"
    try:
        found = stamp.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return f"{expected}, got no file; make bench builds everything"
    revision = found.removesuffix(_DIRTY)
    same = _git(sources, "diff", "--quiet", revision, "HEAD", "--", ".", *_BESIDE)
    return "" if same.returncode == 0 else f"{expected}, got {found}; make bench builds everything"


def _git(sources, *arguments):
    """Returns what git did, or None where there is no git."""
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=sources, check=False)
    except FileNotFoundError:
        return None
