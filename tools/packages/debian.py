"""Asks Debian's mirror for packages, by apt with a state of its own: what is installed on this machine does not count,
and nothing is installed. The proxy settings of this machine's apt hold."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.packages.pins import Pin
from tools.refused import Refused
from tools.trust.files import sha256_of

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_SOURCES = ("http://deb.debian.org/debian bookworm main", "http://deb.debian.org/debian bookworm-updates main",
            "http://deb.debian.org/debian-security bookworm-security main")


class Mirror:
    """Holds what Debian 12 offers for one architecture. It is a context: its state goes when the context ends. Raises
    Refused where the mirror does not answer."""

    def __init__(self, architecture):
        self.architecture = architecture
        self._folder = tempfile.TemporaryDirectory(prefix="crossover-apt-")
        self._state = Path(self._folder.name)
        for folder in ("lists/partial", "cache/archives/partial", "deb"):
            (self._state / folder).mkdir(parents=True)
        (self._state / "status").touch()
        (self._state / "sources.list").write_text("".join(
            f"deb [signed-by={_KEYS} arch={architecture}] {source}\n" for source in _SOURCES), encoding="utf-8")
        done = self._apt("apt-get", "update", "-o", "APT::Update::Error-Mode=any")
        if done.returncode != 0:
            self._folder.cleanup()
            raise Refused(f"packages: {architecture}: expected the lists of Debian 12, got "
                          f"{last_line(done)}")

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._folder.cleanup()

    def with_what_they_need(self, packages, essential):
        """Returns the names of packages and of all that they depend on, sorted. `essential` adds those that Debian
        marks as essential, without which a system does not run."""
        wanted = [*packages, *(["?essential"] if essential else [])]
        done = self._apt("apt-get", "--simulate", "install", "--no-install-recommends", *wanted)
        if done.returncode != 0:
            raise Refused(f"packages: {self.architecture}: apt: {last_line(done)}")
        return sorted(set(re.findall(r"^Inst ([a-z0-9.+-]+)", done.stdout, re.MULTILINE)))

    def newest(self, packages):
        """Returns {name: Pin} of the versions that Debian has now. A package that it does not have is left out."""
        done = self._apt("apt-cache", "show", "--no-all-versions", *packages)
        found = {}
        for paragraph in done.stdout.split("\n\n"):
            fields = dict(re.findall(r"^(Package|Version|SHA256): (.*)$", paragraph, re.MULTILINE))
            if len(fields) == 3 and fields["Package"] in packages:
                found[fields["Package"]] = Pin(fields["Package"], fields["Version"], fields["SHA256"])
        return found

    def fetch(self, pins, pool):
        """Brings the files of pins into a folder, by Pin.file. Raises Refused where one is not to be had, or has
        another checksum."""
        wanted = missing(pins, pool)
        if not wanted:
            return
        work = self._state / "deb"
        done = self._apt("apt-get", "download", *(f"{pin.name}={pin.version}" for pin in wanted), cwd=work)
        if done.returncode != 0:
            raise Refused(f"packages: {self.architecture}: {last_line(done)}")
        fetched = {sha256_of(path): path for path in work.iterdir()}
        for pin in wanted:
            if pin.sha256 not in fetched:
                raise Refused(f"packages: {self.architecture}: {pin.name} {pin.version}: expected a file with the "
                              f"SHA-256 {pin.sha256}, got another")
            shutil.move(fetched[pin.sha256], pool / pin.file)

    def _apt(self, program, *words, cwd=None):
        state = self._state
        options = {"APT::Sandbox::User": "root", "APT::Architecture": self.architecture,
                   "APT::Architectures::": self.architecture, "Dir::Etc::sourcelist": state / "sources.list",
                   "Dir::Etc::sourceparts": "/dev/null", "Dir::Etc::preferences": "/dev/null",
                   "Dir::Etc::preferencesparts": "/dev/null", "Dir::State": state, "Dir::State::lists": state / "lists",
                   "Dir::State::status": state / "status", "Dir::Cache": state / "cache", "Acquire::Languages": "none",
                   # apt takes itself for essential otherwise. A base does without it.
                   "pkgCacheGen::ForceEssential": ","}
        command = [program, "-qq", *(word for key, value in options.items() for word in ("-o", f"{key}={value}")),
                   *words]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)


def last_line(done):
    """Returns the last line of a process's errors, or its exit code in words."""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"{done.args[0]} ended with {done.returncode}"


def missing(pins, pool):
    """Returns the pins whose files a folder lacks, or has with another checksum."""
    return [pin for pin in pins
            if not (pool / pin.file).is_file() or sha256_of(pool / pin.file) != pin.sha256]


def installed(packages):
    """Returns {name: version} of packages that are installed on this machine."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Package} ${Version}\n"], capture_output=True,
                          text=True, check=True)
    found = dict(line[3:].split(" ") for line in done.stdout.splitlines() if line.startswith("ii "))
    return {name: found[name] for name in packages if name in found}
