"""Draws the mutations that are tried: lines at random, each with one mutation. The seed is a revision. The draw depends
on the seed and the sources alone, and on no clock, machine or language version."""

import hashlib
from pathlib import Path

from testing.mutants.operators import mutations

FOLDERS = ("turn", "sidecar/phase", "extender/placement", "extender/gang", "deviceplugin/plugin", "deviceplugin/stats")


def sources(tree, folders=FOLDERS):
    """Returns {path from the top of the tree: text} of the C++ files in these folders, or of these files, in order."""
    found = {}
    for name in folders:
        place = Path(tree, name)
        files = [place] if place.is_file() else [*place.rglob("*.h"), *place.rglob("*.cc")]
        if not files:
            raise ValueError(f"{name}: expected a folder with C++ files, or one of them, got neither")
        found |= {str(path.relative_to(tree)): path.read_text(encoding="utf-8") for path in files}
    return dict(sorted(found.items()))


def drawn(files, seed):
    """Returns one mutation of each line that has any, in random order."""
    chosen = []
    for file, source in files.items():
        for line, choices in mutations(file, source).items():
            chosen.append((_number(seed, "line", file, line),
                           choices[_number(seed, "mutation", file, line) % len(choices)]))
    return [mutation for _, mutation in sorted(chosen, key=lambda entry: entry[0])]


def _number(*words):
    return int.from_bytes(hashlib.sha256(" ".join(map(str, words)).encode()).digest()[:16], "big")
