"""reproducible counts the bytes that differ between two releases of one revision. One is built with warm caches. The
other is built later, in a folder with a longer path, with another user's settings (time zone, character set, mask of
new files), with an empty compiler cache, and with the library's compiler, the bases and the root for aarch64 fetched
and made anew.

Control: the command line of a tree that puts the time of its build into it, built twice.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.quality import released
from benchmarks.runner.kept import TREE
from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.runner.revisions import run_in
from testing.cluster.rig.versions import cache
from testing.processes import Failed

SCOPE = "component"
GPUS = "no GPUs"
NEEDS_BUILD = False
CASES = ("release",)
_GOAL = Goal("==", 0)
_IMAGES = "registry.example/team"
# Only the bills depend on these programs, which their modules pin. To build them takes half an hour.
_SHARED = ("helm-*", "kube-*", "containerd-*", "syft-*", "cosign-*", "cluster-debian-12", "definitions-*")
_ONE = {"TZ": "UTC", "LC_ALL": "C.UTF-8"}
_OTHER = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "USER": "another"}
_FILES = 20  # that a release without signatures has at least
_TIME = 'static const char kBuilt[] __attribute__((used)) = __DATE__ " " __TIME__;\n'


def left_out(_case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return released.missing() or "it takes half an hour"


def measure(context, case):
    with tempfile.TemporaryDirectory(prefix="crossover-reproducible-") as name:
        folder = Path(name)
        one, two = folder / "a", folder / "another-folder-with-a-long-name/crossover"
        _clone(one)
        dist = _release(one, _ONE)
        _clone(two)
        caches = {"CROSSOVER_CACHE": str(_empty_cache(folder / "cache")), "CCACHE_DIR": str(folder / "ccache")}
        other = _release(two, {**_OTHER, **caches}, umask=0o027)
        differing = {each: _differing(dist / each, other / each) for each in sorted({*_names(dist), *_names(other)})}
        if len(differing) < _FILES:
            raise Failed(f"{dist}: expected {_FILES} files at least, got {sorted(differing)}")
        seen = _control(one, folder)
    found = {each: count for each, count in differing.items() if count}
    context.say(f"    {found or 'all equal'} of {len(differing)} files; control: {seen}")
    yield Measured("reproducible", case, sum(found.values()), "differing bytes", _GOAL, (sum(found.values()),),
                   controlled(_GOAL, "the time of the build in the command line", seen),
                   f"{len(differing)} files of two releases with KEY=none, by cmp", {"differing": found,
                                                                                    "files": sorted(differing)})


def _clone(folder):
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run(["git", "clone", "--quiet", TREE, folder], TREE)


def _empty_cache(empty):
    """Returns a cache that has only what makes no byte of images, programs and archives."""
    empty.mkdir()
    for pattern in _SHARED:
        for path in cache().glob(pattern):
            (empty / path.name).symlink_to(path)
    return empty


def _release(tree, settings, umask=0o022):
    """Returns the folder of a release of a tree."""
    _run(["tools/install.sh", "--cuda"], tree, settings, umask)
    _run(["tools/install.sh", "--images"], tree, settings, umask)
    _run(["tools/release.sh"], tree, {**settings, "IMAGES": _IMAGES, "KEY": "none", "PINS": "newest"}, umask)
    return tree / "dist"


def _control(tree, folder):
    """Returns how many bytes differ between two archives of a command line that has the time of its build."""
    main = tree / "cli/main.cc"
    text = main.read_text(encoding="utf-8")
    packed = []
    for name in ("first", "second"):
        main.write_text(f"{text}\n{_TIME}", encoding="utf-8")
        _run(["tools/build.sh", "release", "crossover"], tree)
        (folder / name).mkdir()
        _run(["tools/package_cli.sh", "build/release", folder / name, "cli", "0"], tree)
        packed.append(folder / name / "cli.tar.gz")
    return _differing(*packed)


def _names(dist):
    return [path.name for path in dist.iterdir()]


def _differing(one, two):
    """Returns how many bytes differ, by cmp. A file that is missing, or longer, counts as each byte more."""
    if not one.exists() or not two.exists():
        return max(path.stat().st_size for path in (one, two) if path.exists())
    with subprocess.Popen(["cmp", "--verbose", one, two], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cmp:
        lines = sum(1 for _ in cmp.stdout)
    return lines + abs(one.stat().st_size - two.stat().st_size)


def _run(command, tree, settings=None, umask=0o022):
    inherited = {key: value for key, value in os.environ.items() if key not in ("ARCHITECTURES", "BILLS")}
    run_in(tree, *command, env={**inherited, **(settings or {})}, umask=umask)
