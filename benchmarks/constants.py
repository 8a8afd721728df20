"""The constants of the software GPU, and the digest by which a baseline names them. Pure but for the read."""

import hashlib
import re
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "simgpu" / "model" / "constants.h"
_LINE = re.compile(r"^constexpr [\w:]+ (k\w+) = ([^;]+);$", re.MULTILINE)


def values(text=None):
    """Name -> value, as text without digit separators. `text`: of the file, by default what it holds now."""
    text = FILE.read_text(encoding="utf-8") if text is None else text
    return {name: value.replace("'", "") for name, value in _LINE.findall(text)}


def digest(text=None):
    """Changes when a name or a value does; the order of lines and the comments do not count."""
    lines = (f"{name}={value}\n" for name, value in sorted(values(text).items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]
