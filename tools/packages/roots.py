"""Makes roots of Debian's packages: the base of our images, and what programs of another architecture are linked
against. The same packages give the same bytes."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from testing.cluster.rig.images import architecture as native
from testing.cluster.rig.versions import cache
from tools.packages import debian
from tools.refused import Refused

_TREE = Path(__file__).resolve().parents[2]
EMULATE = [sys.executable, "-B", str(_TREE / "tools/emulate.py")]
# A base has nothing of the machine that makes it: no name, no name server, no place where packages came from. It has no
# apt, so that settings of apt are of no use.
_CLEAN = 'rm -rf "$1/etc/hostname" "$1/etc/resolv.conf" "$1/etc/apt/sources.list"'
# Compilers need other packages, too, such as libraries that they load. Those leave no bytes in what is built.
LEAVES_BYTES = re.compile(r".*-dev(-arm64-cross)?$|(binutils|cpp|g\+\+|gcc|libc6|libgcc|mold|protobuf|libprotoc)")
# Roots, images and archives are written by these.
_PACKERS = ("dpkg", "gzip", "mmdebstrap", "tar", "zlib1g")
_BUILDER = "buildah"  # tools/install/images.sh unpacks it
OF_CROSS_COMPILER = re.compile("aarch64|arm64|-cross-base$")
COMPILERS = ("binutils", "binutils-aarch64-linux-gnu", "g++-12", "g++-12-aarch64-linux-gnu", "mold")
_SUITE = "bookworm"
_RECIPE = "4"  # another number makes all roots anew


def say(text):
    print(f"packages: {text}", file=sys.stderr, flush=True)


def versions_of(root):
    """Returns {name: version} of what a root was made of."""
    lines = _note(Path(root)).read_text(encoding="utf-8").splitlines()[1:]
    return {name: version for name, version, _ in (line.split() for line in lines)}


def installed(names):
    """Returns {name: version} of packages that are installed on this machine, or were unpacked for a release."""
    found = debian.installed(names)
    version = cache() / "images-1/builder/.version"
    if _BUILDER in names and version.exists():
        found[_BUILDER] = version.read_text(encoding="ascii").strip()
    return found


def packers():
    """Returns the packages that write the bytes of roots, images and archives."""
    return [*_PACKERS, _BUILDER]


def check_emulator(architecture):
    """Raises Refused where programs of an architecture cannot run here."""
    if architecture != native():
        done = subprocess.run([*EMULATE, "true"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(debian.last_line(done))


def base(architecture, packages, pins, pool, time, out):
    """Writes the archive of a base system unless it is there: Debian's essential packages and `packages`, from the
    files of `pins` in a pool. `time` is the newest time that a file gets."""
    out = Path(out)
    if _is_made(out, pins, time):
        return
    say(f"making {out}")
    emulated = [] if architecture == native() else EMULATE
    part = out.with_suffix(".part.tar")
    _mmdebstrap(emulated, architecture, "essential", packages, pins, pool, time, part, f"--customize-hook={_CLEAN}",
                "--skip=output/dev")  # a runtime makes devices, and only the machine's own root can unpack them
    part.replace(out)
    _note(out).write_text(_contents(pins, time), encoding="utf-8")


def sysroot(architecture, packages, pins, pool, out):
    """Unpacks packages and all that they need into a folder unless it is there, so that compilers find their headers
    and libraries."""
    out = Path(out)
    if _is_made(out, pins, 0):
        return
    say(f"making {out}")
    part = out.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    _mmdebstrap([], architecture, "extract", packages, pins, pool, 0, part)
    _make_links_relative(part)
    # gRPC's package of CMake wants its generators there. The build runs those of this machine.
    (part / "usr/bin").mkdir(parents=True, exist_ok=True)
    for path in Path("/usr/bin").glob("grpc_*"):
        (part / "usr/bin" / path.name).unlink(missing_ok=True)
        (part / "usr/bin" / path.name).symlink_to(path)
    shutil.rmtree(out, ignore_errors=True)
    part.replace(out)
    _note(out).write_text(_contents(pins, 0), encoding="utf-8")


def _mmdebstrap(before, architecture, variant, packages, pins, pool, time, out, *more):
    with tempfile.TemporaryDirectory(prefix="crossover-packages-") as folder:
        repository = Path(folder)
        repository.chmod(0o755)
        for pin in pins:
            shutil.copy(pool / pin.file, repository / pin.file)
        _write_index(repository, "".join(_paragraph(repository / pin.file, pin) for pin in pins).encode())
        for path in repository.iterdir():
            path.chmod(0o644)  # apt reads them as a user of its own, whatever mask of new files this user has
        command = [*before, "mmdebstrap", "--quiet", "--mode=root", f"--variant={variant}",
                   f"--architectures={architecture}", f"--include={','.join(packages)}", *more,
                   _SUITE, out, f"deb [trusted=yes] copy:{repository} ./"]
        done = subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(time)}, capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL, umask=0o022)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or [debian.last_line(done)]
        raise Refused(f"packages: {out}: mmdebstrap: {'; '.join(errors)}")


def _write_index(repository, packages):
    """Writes what makes a folder of packages a repository. mmdebstrap asks for the essential packages of a suite."""
    (repository / "Packages").write_bytes(packages)
    (repository / "Release").write_text(
        f"Suite: {_SUITE}\nCodename: {_SUITE}\n"
        f"SHA256:\n {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages\n", encoding="utf-8")


def _paragraph(path, pin):
    """Returns what an index of packages has of a file."""
    control = subprocess.run(["dpkg-deb", "--field", path], capture_output=True, text=True, check=True).stdout
    return f"{control.rstrip()}\nFilename: ./{path.name}\nSize: {path.stat().st_size}\nSHA256: {pin.sha256}\n\n"


def _make_links_relative(root):
    """Turns links to absolute paths of the root into relative ones, which hold wherever the root lies."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder) / name
            if path.is_symlink() and (target := os.readlink(path)).startswith("/"):
                path.unlink()
                path.symlink_to(os.path.relpath(f"{root}{target}", folder))


def has(out, packages):
    """Tells whether a root is there that has been made by this recipe and has these packages, in whichever version."""
    note = _note(Path(out))
    if not Path(out).exists() or not note.exists():
        return False
    return note.read_text(encoding="utf-8").split()[0] == _RECIPE and set(packages) <= set(versions_of(out))


def _note(out):
    return out.with_name(f"{out.name}.packages")


def _contents(pins, time):
    return f"{_RECIPE} {time}\n" + "".join(f"{pin.name} {pin.version} {pin.sha256}\n" for pin in pins)


def _is_made(out, pins, time):
    note = _note(out)
    return out.exists() and note.exists() and note.read_text(encoding="utf-8") == _contents(pins, time)


def of_images(folder=_TREE / "docker"):
    """Returns the packages that the Dockerfiles name."""
    found = [re.search(r'^ARG PACKAGES="(.*)"$', path.read_text(encoding="utf-8"), re.MULTILINE)[1].split()
             for path in sorted(folder.glob("*.Dockerfile"))]
    return sorted({name for names in found for name in names})


def of_build(path=_TREE / "tools/install/debian-12.txt"):
    """Returns (what the programs are compiled with, the packages of the libraries that they are linked against), as
    tools/install/debian-12.txt names them: those of its parts about the build and about libraries."""
    parts, of_part = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            of_part = parts.setdefault(line[2:].partition(",")[0], [])
        elif line and of_part is not None:
            of_part.append(line)
    named = [name for title, names in parts.items() if title.startswith("libraries of") for name in names]
    libraries = [name for name in named if name.endswith("-dev")]
    tools = [name for name in named if not name.endswith("-dev")]
    return sorted([*tools, *COMPILERS]), sorted([*libraries, "libc6-dev", "libstdc++-12-dev"])
