"""Reads the calls that reached the driver, as tests/process/sidecar/recorder records them."""

import re
from pathlib import Path


def calls(path, whose="user"):
    """Returns the main thread's calls in a record, with handles numbered in order of appearance. Leaves out queries:
    how often a program polls depends on the time."""
    names = {}
    found = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        thread, owner, function, *arguments = line.split()
        if owner != whose or function.endswith("Query") or (whose == "user" and thread != "0"):
            continue
        numbered = [names.setdefault(a, f"#{len(names)}") if len(a) > 6 and a[0] == "h" else a for a in arguments]
        found.append(" ".join([function, *numbered]))
    return found


def without_one(path, function="cuStreamWaitEvent"):
    """Returns the same record without one of the user's calls, as a list like that of `calls`."""
    text = Path(path).read_text(encoding="utf-8")
    shorter = re.sub(rf"^0 user {function}.*\n", "", text, count=1, flags=re.MULTILINE)
    if shorter == text:
        return None
    edited = Path(f"{path}.without-one")
    edited.write_text(shorter, encoding="utf-8")
    return calls(edited)
