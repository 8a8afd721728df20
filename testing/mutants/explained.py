"""Reads why some mutations survive, from testing/mutants/explained.txt. It has blocks of four lines,

    FILE
    the line as it is
    the line as it is changed
    why no test sees it

with an empty line between two of them. Lines that begin with # are remarks. An explained mutation still counts as a
survivor.
"""

from pathlib import Path

FILE = Path(__file__).with_name("explained.txt")


def read(file=FILE):
    """Returns {(file, before, after): why}. Raises ValueError if a block has another form."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = {}
    for block in "\n".join(lines).split("\n\n"):
        if not block.strip():
            continue
        parts = block.strip().split("\n")
        if len(parts) != 4:
            raise ValueError(f"{file.name}: {parts[0]}: expected a block of 4 lines, got {len(parts)}")
        found[tuple(parts[:3])] = parts[3]
    return found


def of(mutation, reasons):
    return reasons.get((mutation.file, mutation.before, mutation.after), "")


def stale(reasons, tree):
    """Returns the entries about lines that no longer exist."""
    def is_there(file, line):
        path = Path(tree, file)
        return path.is_file() and line in map(str.strip, path.read_text(encoding="utf-8").splitlines())
    return [key for key in reasons if not is_there(key[0], key[1])]
