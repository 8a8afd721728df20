"""Reads and writes tools/install/release-debian-12.txt, which pins the Debian packages of a release by version and
checksum.

A line has a part, an architecture, a package, its version, and the SHA-256 of its file. Parts:
- base: what is in the images, beside our own programs;
- sysroot: what programs are linked against for another architecture than that of this machine;
- build: what leaves bytes in a release on this machine: compilers, headers, and the programs that write archives. These
  packages are installed, so their files are not at hand, and "-" stands for the checksum.
"""

import datetime
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tools.refused import Refused, refusal

FILE = Path(__file__).resolve().parents[1] / "install/release-debian-12.txt"
BASE, SYSROOT, BUILD = PARTS = ("base", "sysroot", "build")
ARCHITECTURES = ("amd64", "arm64")
INSTALLED = "-"
_TAKEN = "# Taken on "
_PATTERNS = (re.compile("|".join(PARTS)), re.compile("|".join(ARCHITECTURES)), re.compile(r"[a-z0-9][a-z0-9.+-]+"),
             re.compile(r"[A-Za-z0-9.+~:-]+"), re.compile(r"[0-9a-f]{64}|-"))
_EXPECTED = ("part", "architecture", "package", "version", "SHA-256")


@dataclass(frozen=True)
class Pin:
    """Names one package."""

    name: str
    version: str
    sha256: str

    @property
    def file(self):
        """Returns a name for its file. The version's colon is no part of it."""
        return f"{self.name}_{self.version.replace(':', '%3a')}.deb"


class Pins:
    """Holds the pins of all parts: {(part, architecture): {package: Pin}}, and the day on which they were taken."""

    def __init__(self, parts, day):
        self.parts, self.day = parts, day

    @property
    def time(self):
        """Returns the time that files get which are newer than the pins, in seconds since 1970."""
        return int(datetime.datetime.combine(self.day, datetime.time(), datetime.timezone.utc).timestamp())

    def of(self, part, architecture):
        return self.parts.get((part, architecture), {})

    def text(self):
        lines = [__doc__.partition("\n\n")[2].strip(), "", "`python3 -m tools.packages pin` writes this file."]
        head = "".join(f"# {line}".rstrip() + "\n" for text in lines for line in text.split("\n"))
        taken = f"{_TAKEN}{self.day.isoformat()}, from Debian 12.\n#\n"
        return ("# Pins the Debian packages of a release.\n" + taken + head +
                "".join(f"{part} {architecture} {pin.name} {pin.version} {pin.sha256}\n"
                        for (part, architecture), pins in self.parts.items() for _, pin in sorted(pins.items())))


def read(path=FILE):
    """Returns the Pins of a file. Raises Refused where a line is not one."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise refusal(path, "file", "one with pinned packages", error.strerror) from error
    parts, day = defaultdict(dict), None
    for number, line in enumerate(lines, 1):
        if line.startswith(_TAKEN):
            day = _day(f"{path}:{number}", line)
        elif line and not line.startswith("#"):
            part, architecture, pin = _pin(f"{path}:{number}", line)
            if pin.name in parts[part, architecture]:
                raise refusal(f"{path}:{number}", f"{part} {architecture} {pin.name}", "one line", "a second")
            parts[part, architecture][pin.name] = pin
    if day is None:
        raise refusal(path, _TAKEN.strip("# "), "a line with the day, such as 2026-11-30", "none")
    return Pins(dict(parts), day)


def _day(where, line):
    word = line.removeprefix(_TAKEN).partition(",")[0]
    try:
        return datetime.date.fromisoformat(word)
    except ValueError as error:
        raise refusal(where, "day", "one such as 2026-11-30", word) from error


def _pin(where, line):
    words = line.split(" ")
    if len(words) != len(_EXPECTED):
        raise Refused(f"{where}: expected {', '.join(_EXPECTED)}, got {line!r}")
    for name, pattern, word in zip(_EXPECTED, _PATTERNS, words):
        if not pattern.fullmatch(word):
            raise refusal(where, name, f"one such as {pattern.pattern}", repr(word))
    if (words[0] == BUILD) != (words[4] == INSTALLED):
        raise refusal(where, "SHA-256", f"{INSTALLED} for {BUILD} alone", words[4])
    return words[0], words[1], Pin(*words[2:])
