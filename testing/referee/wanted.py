"""Judges comparisons of ours with NVIDIA's by wanted.txt, the list of differences that are wanted. Pure.

The list has sections, each with a reason, and below it the subjects that differ:

    [newer PACKAGE below VERSION: REASON]     the driver lacks it, because it is older than VERSION
    [lacks PACKAGE from VERSION: REASON]      the software GPU or its MPS lacks it; both limits may stand or be left out

VERSION is that of CUDA for libcuda1, and of the driver for the other packages. A subject that no longer differs is a
fault, and so is one that the list may not excuse: a driver's row that ours has otherwise.
"""

import enum
import re
from dataclasses import dataclass

PACKAGES = ("libcuda1", "libnvidia-ml1", "nvidia-cuda-mps")
_SECTION = re.compile(r"\[(newer|lacks) (\S+)(?: from ([0-9.]+))?(?: below ([0-9.]+))?: (\S.*)\]$")


class Lacking(enum.Enum):
    """Says which side has nothing if two sides differ."""

    NEITHER = "neither"
    DRIVER = "newer"
    OURS = "lacks"


@dataclass(frozen=True)
class Compared:
    """A Compared is one row or answer of ours beside NVIDIA's."""

    subject: str
    ours: str
    theirs: str
    lacking: Lacking = Lacking.NEITHER

    @property
    def differs(self):
        return self.ours != self.theirs


@dataclass(frozen=True)
class Section:
    lacking: Lacking
    package: str
    least: tuple  # versions as tuples of numbers; () is no limit
    below: tuple
    reason: str
    line: int

    def holds_for(self, package, version):
        return package == self.package and self.least <= version and (not self.below or version < self.below)


@dataclass(frozen=True)
class Verdict:
    compared: int
    differing: list  # of texts: differences that are not in the list, and faults of the list
    listed: int


def version_of(text):
    """Returns a version as a tuple of numbers: (12, 5) of "12.5". Raises ValueError if it is none."""
    return tuple(int(part) for part in text.split("."))


def read(text, name="wanted.txt"):
    """Returns the list as [(Section, subject, line)]. Raises ValueError if it is wrong."""
    entries, section = [], None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = _section(line, f"{name}:{number}", number)
        elif section is None:
            raise ValueError(f"{name}:{number}: '{line}': expected a section above it, such as [lacks PACKAGE: REASON]")
        elif any(other.package == section.package and known == line and _overlap(other, section)
                 for other, known, _ in entries):
            raise ValueError(f"{name}:{number}: '{line}' stands twice for {section.package}")
        else:
            entries.append((section, line, number))
    return entries


def _section(line, where, number):
    found = _SECTION.match(line)
    if found is None:
        raise ValueError(f"{where}: '{line}': expected [newer PACKAGE below VERSION: REASON] or "
                         "[lacks PACKAGE: REASON]")
    kind, package, least, below, reason = found.groups()
    if package not in PACKAGES:
        raise ValueError(f"{where}: package '{package}': expected {', '.join(PACKAGES)}")
    if kind == "newer" and below is None:
        raise ValueError(f"{where}: '{line}': expected 'below VERSION': what is newer than all drivers cannot be held")
    limits = (version_of(limit) if limit else () for limit in (least, below))
    return Section(Lacking(kind), package, *limits, reason, number)


def _overlap(one, other):
    return (not one.below or other.least < one.below) and (not other.below or one.least < other.below)


def judge(compared, entries, package, version):
    """Returns the Verdict on what was compared with one of NVIDIA's binaries, given its package and version."""
    listed = {subject: (section, line) for section, subject, line in entries if section.holds_for(package, version)}
    differing, seen = [], set()
    for one in compared:
        entry = listed.get(one.subject)
        seen.add(one.subject)
        if entry is None:
            if one.differs:
                differing.append(f"{one.subject}: ours: {one.ours}; {package}: {one.theirs}")
        elif not one.differs:
            differing.append(f"wanted.txt:{entry[1]}: {one.subject} no longer differs: {one.ours}")
        elif one.lacking is not entry[0].lacking:
            differing.append(f"wanted.txt:{entry[1]}: {one.subject} may not be listed as '{entry[0].lacking.value}': "
                             f"ours: {one.ours}; {package}: {one.theirs}")
    differing += [f"wanted.txt:{line}: {subject} is compared nowhere"
                  for subject, (_, line) in listed.items() if subject not in seen]
    return Verdict(len(compared), differing, len(listed))
