"""Reads the constants of the software GPU, and computes the digest by which a baseline names them. Pure except for
reads."""

import hashlib
import re
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "simgpu" / "model" / "constants.h"
_LINE = re.compile(r"^constexpr [\w:]+ (k\w+) = ([^;]+);$", re.MULTILINE)


def values(text=None):
    """Returns {name: value}, with values as text without digit separators. `text` is the file's text; default: what
    it holds."""
    text = FILE.read_text(encoding="utf-8") if text is None else text
    return {name: value.replace("'", "") for name, value in _LINE.findall(text)}


def digest(text=None):
    """Returns a digest that changes with any name or value, but not with the order of lines or with comments."""
    lines = (f"{name}={value}\n" for name, value in sorted(values(text).items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]
