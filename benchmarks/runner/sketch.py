"""Keeps enough of the code that a figure was measured with to tell later how much of it changed.

A commit may leave the history: a rebase or a squash replaces it. Then git no longer knows the code of a kept line. So
a line also has a sketch of the bag of lines that moved_on.py compares: the number of lines, and the smallest hashes
of them. The share of hashes that two sketches have in common estimates the share of lines in common (bottom-k
sketches: Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007). With 128 hashes, the standard error
of a change of a tenth is 0.02.
"""

import base64
import hashlib
import struct

_HASHES = 128
_LINES, _SMALLEST = "lines", "smallest"


def of(lines):
    """Returns the sketch of a Counter of lines, as an object for JSON."""
    chosen = _smallest(lines)
    packed = struct.pack(f"<{len(chosen)}I", *chosen)
    return {_LINES: lines.total(), _SMALLEST: base64.b64encode(packed).decode("ascii")}


def part_changed(sketch, lines):
    """Returns the estimate of the share that moved_on.part_changed() has between the sketched lines and a Counter.
    Raises ValueError where the sketch is not one."""
    before, total = _read(sketch)
    after = set(_smallest(lines))
    union = sorted(before | after)[:_HASHES]
    alike = sum(each in before and each in after for each in union) / max(1, len(union))
    common = alike / (1 + alike) * (total + lines.total())
    return max(total - common, lines.total() - common, 0) / max(1, total)


def _smallest(lines):
    """Returns the smallest hashes of the lines, in order. Of a line that is there n times, each has its own hash."""
    hashes = {_hash(f"{number}:{line}") for line, count in lines.items() for number in range(count)}
    return sorted(hashes)[:_HASHES]


def _hash(text):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")


def _read(sketch):
    """Returns the hashes of a sketch and the number of its lines."""
    try:
        packed = base64.b64decode(sketch[_SMALLEST], validate=True)
        hashes = set(struct.unpack(f"<{len(packed) // 4}I", packed))
        total = int(sketch[_LINES])
    except (KeyError, TypeError, ValueError, struct.error) as error:
        raise ValueError(f"code: expected an object with {_LINES} and {_SMALLEST}, got {sketch!r}: {error}") from error
    if len(hashes) < min(total, _HASHES) / 2:
        raise ValueError(f"code: expected the hashes of {total} lines, got {len(hashes)}")
    return hashes, total
