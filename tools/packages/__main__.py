"""Makes roots of the Debian packages of a release, and pins these, in ${CROSSOVER_CACHE:-~/.cache/crossover}/release-1.

    python3 -m tools.packages roots ARCHITECTURE...   make what a release for these architectures needs; print for each
                                                      "base" or "sysroot", its architecture and its path, with tabs
    python3 -m tools.packages base ARCHITECTURE OUT   write a base of what Debian has now, for tests; one that
                                                      is there stays
    python3 -m tools.packages pin                     pin what Debian has now

With PINS=newest in the environment, `roots` goes on where a package differs from its pin, and prints a line "differs"
for each that does.
The exit code is 2 where something is refused; one line says what.
"""

import datetime
import fcntl
import hashlib
import os
import sys

from tools.packages import debian, pins, roots
from tools.refused import Refused, refusal

_NEWEST = "newest"
_INSTALL = "tools/install.sh --release"


class Maker:
    """Makes roots in the cache. With `newest`, it takes what Debian has now."""

    def __init__(self, newest):
        self._newest = newest
        self._pins = pins.read()
        self._cache = roots.cache() / "release-1"
        self.differ = []  # what differs from its pin, in words

    def roots(self, architectures):
        """Yields (kind, architecture, path). Raises Refused where a package differs from its pin."""
        if roots.native() != pins.ARCHITECTURES[0]:
            raise refusal("release", "machine", "one of amd64, on which a release is made", roots.native())
        for architecture in architectures:
            roots.check_emulator(architecture)
        self._compare_installed(architectures)
        for architecture in architectures:
            _, libraries = roots.of_build()
            yield pins.BASE, architecture, self._root(pins.BASE, architecture, roots.of_images())
            if architecture != roots.native():
                yield pins.SYSROOT, architecture, self._root(pins.SYSROOT, architecture, libraries)

    def write_base(self, architecture, out):
        """Writes a base of what Debian has now, unless there is one that has these packages."""
        if roots.has(out, roots.of_images()):
            return
        with debian.Mirror(architecture) as mirror:
            chosen = _chosen(mirror, pins.BASE, roots.of_images())
            pool = self._pool(architecture)
            mirror.fetch(chosen.values(), pool)
        roots.base(architecture, roots.of_images(), list(chosen.values()), pool, self._pins.time, out)

    def _root(self, part, architecture, packages):
        chosen, pool = self._pins.of(part, architecture), self._pool(architecture)
        missing = debian.missing(chosen.values(), pool)
        if self._newest or missing or not chosen:
            with debian.Mirror(architecture) as mirror:
                chosen = self._obtainable(mirror, part, architecture, packages, missing)
                mirror.fetch(chosen.values(), pool)
        files = list(chosen.values())
        name = hashlib.sha256(repr(files).encode()).hexdigest()[:12]
        out = self._cache / f"{part}-{architecture}-{name}{'.tar' if part == pins.BASE else ''}"
        with open(self._cache / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if part == pins.BASE:
                roots.base(architecture, packages, files, pool, self._pins.time, out)
            else:
                roots.sysroot(architecture, packages, files, pool, out)
        return out

    def _obtainable(self, mirror, part, architecture, packages, missing):
        """Returns {name: Pin} of what a root is made of: the pins, or what Debian has now."""
        pinned = self._pins.of(part, architecture)
        found = _chosen(mirror, part, packages) if self._newest else mirror.newest({pin.name for pin in missing})
        for name in sorted(set(pinned if self._newest else {pin.name for pin in missing}) | set(found)):
            self._compare(f"{part} {architecture} {name}", pinned.get(name), found.get(name))
        return found if self._newest else pinned

    def _compare_installed(self, architectures):
        pinned = self._pins.of(pins.BUILD, roots.native())
        found = roots.installed(pinned)
        for name, pin in pinned.items():
            if len(architectures) == 1 and roots.OF_CROSS_COMPILER.search(name):
                continue
            if name not in found:
                raise refusal("packages", f"{pins.BUILD} {name}", "an installed package", f"none: {_INSTALL}")
            self._compare(f"{pins.BUILD} {roots.native()} {name}", pin,
                          pins.Pin(name, found[name], pins.INSTALLED))

    def _compare(self, what, pinned, found):
        if pinned == found:
            return
        words = f"expected {_words(pinned)}, got {_words(found)}"
        if not self._newest:
            raise Refused(f"packages: {what}: {words}: PINS={_NEWEST} goes on and lists what differs")
        self.differ.append(f"{what}: {words}")

    def _pool(self, architecture):
        pool = self._cache / "pool" / architecture
        pool.mkdir(parents=True, exist_ok=True)
        return pool


def _words(pin):
    return f"{pin.version}{'' if pin.sha256 == pins.INSTALLED else f' ({pin.sha256[:12]})'}" if pin else "none"


def _chosen(mirror, part, packages):
    """Returns {name: Pin} of the newest of packages and of all that they need."""
    return mirror.newest(mirror.with_what_they_need(packages, essential=part == pins.BASE))


def _tools():
    """Returns the names of the packages that this machine compiles and links with."""
    tools, libraries = roots.of_build()
    with debian.Mirror(roots.native()) as mirror:
        needed = mirror.with_what_they_need([*tools, *libraries], essential=False)
    return sorted([*roots.packers(), *(name for name in needed if roots.LEAVES_BYTES.match(name))])


def _pinned():
    """Returns the Pins of what Debian has now, and of what is installed here."""
    parts, tools = {}, _tools()
    for architecture in pins.ARCHITECTURES:
        with debian.Mirror(architecture) as mirror:
            parts[pins.BASE, architecture] = _chosen(mirror, pins.BASE, roots.of_images())
            if architecture != roots.native():
                parts[pins.SYSROOT, architecture] = _chosen(mirror, pins.SYSROOT, roots.of_build()[1])
    found = roots.installed(tools)
    for name in tools:
        if name not in found:
            raise refusal("packages", f"{pins.BUILD} {name}", "an installed package", f"none: {_INSTALL}")
    parts[pins.BUILD, roots.native()] = {name: pins.Pin(name, version, pins.INSTALLED)
                                         for name, version in found.items()}
    return pins.Pins(parts, datetime.datetime.now(datetime.timezone.utc).date())


def _roots(architectures):
    option = os.environ.get("PINS", "")
    if option not in ("", _NEWEST):
        raise refusal("release", "PINS", f"nothing or {_NEWEST}", option)
    for architecture in architectures:
        if architecture not in pins.ARCHITECTURES:
            raise refusal("release", "ARCHITECTURES", " or ".join(pins.ARCHITECTURES), architecture)
    maker = Maker(option == _NEWEST)
    for made in maker.roots(architectures):
        print(*made, sep="\t")
    for each in maker.differ:
        print("differs", each, sep="\t")
        roots.say(f"differs: {each}")


def main(arguments=None):
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        match words:
            case ["roots", _, *_]:
                _roots(words[1:])
            case ["base", architecture, out] if architecture in pins.ARCHITECTURES:
                Maker(newest=True).write_base(architecture, out)
            case ["pin"]:
                pins.FILE.write_text(_pinned().text(), encoding="utf-8")
            case _:
                raise refusal("argument", "command", "roots ARCHITECTURE..., base ARCHITECTURE OUT or pin",
                              " ".join(words) or "none")
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
