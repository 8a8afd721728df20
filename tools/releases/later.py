"""Makes a later release out of this tree: the same sources with a higher version, and if wanted with higher numbers
of the protocol and the page. As long as there is no second release, upgrades are tried with it."""

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from testing import other_tree
from testing.processes import Failed
from tools.releases import facts

_TARGETS = ("crossover-deviceplugin", "crossover-extender", "crossover-signaller", "crossover", "crossover_portable")
_CHART = "charts/crossover"
_STAMP = "made_of"
# No program of a release depends on these files.
_OF_NO_RELEASE = tuple(f":(exclude){each}" for each in ("tests", "testing", "benchmarks", "docs", "*.md", "*.py"))


def make(build, version, raised=()):
    """Returns a folder with the release `version`: its programs and its library as in a build directory, and its chart.
    `raised` names the numbers (facts.NUMBERS) that are one higher in it. It stays in the build directory until the
    sources change. It takes some minutes of all processors. Raises Failed if it does not build."""
    kept = build.top / "later" / "-".join((version, *raised))
    stamp = f"{version} {','.join(raised)} {_digest(_files(*_OF_NO_RELEASE))}"
    if (kept / _STAMP).exists() and (kept / _STAMP).read_text(encoding="ascii") == stamp:
        return kept
    shutil.rmtree(kept, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="crossover-later-") as folder:
        tree = Path(folder)
        _copy(_files(), tree)
        _raise(tree, version, raised)
        made = other_tree.build(tree, build, _TARGETS, f"release {version}")
        kept.mkdir(parents=True)
        for name in ("bin", "portable"):
            shutil.copytree(made / name, kept / name, symlinks=True)
        shutil.copytree(tree / _CHART, kept / "chart")
    (kept / _STAMP).write_text(stamp, encoding="ascii")
    return kept


def chart_of(folder):
    """Returns the chart in a folder that `make` returned."""
    return folder / "chart"


def _files(*without):
    """Returns the files of the tree, also those that are not committed, but for those that are left out."""
    done = subprocess.run(["git", "-C", str(facts.TREE), "ls-files", "-z", "--cached", "--others",
                           "--exclude-standard", "--", ".", *without], capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


def _digest(files):
    found = hashlib.sha256()
    for name in files:
        path = facts.TREE / name
        if path.is_file():
            found.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _copy(files, tree):
    there = [name for name in files if (facts.TREE / name).exists()]
    packed = subprocess.run(["tar", "-C", str(facts.TREE), "-c", "--null", "-T", "-"], input="\0".join(there).encode(),
                            stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-C", str(tree), "-x"], input=packed, check=True)


def _raise(tree, version, raised):
    _replace(tree / "CMakeLists.txt", r"(project\(crossover VERSION )[\d.]+", rf"\g<1>{version}")
    _replace(tree / _CHART / "Chart.yaml", r'(?m)^(version: |appVersion: "?)[\d.]+', rf"\g<1>{version}", 2)
    for name in raised:
        file, macro = facts.MACROS[name]
        _replace(tree / file, rf"(#define {macro} )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}")


def _replace(path, pattern, by, times=1):
    text, found = re.subn(pattern, by, path.read_text(encoding="utf-8"))
    if found != times:
        raise Failed(f"{path}: {pattern}: expected {times} places, got {found}")
    path.write_text(text, encoding="utf-8")
