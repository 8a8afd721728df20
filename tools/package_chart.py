"""Packs charts/crossover as a Helm archive, with the repository and the architecture of its images set:

    python3 -m tools.package_chart REPOSITORY MACHINE OUT

MACHINE is what `uname -m` prints where the images are built. The same sources give the same archive. The versions of
the chart, of what it installs, and of the project must be equal.
"""

import argparse
import gzip
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

from testing.rendering import CHART, TREE, template

_REQUIRED = re.compile(r'(# Required: the repository of an image that holds (crossover-[a-z]+)\.\n +repository: )""')
_ARCHITECTURE = re.compile(r'^(arch: )""$', re.MULTILINE)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # by machine, as in the node label kubernetes.io/arch
_REPOSITORY = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")


class Refused(ValueError):
    """Says what is wrong with the request. The text is for the user."""


def versions(tree=TREE):
    """Returns {place: version} for all places that name a version."""
    chart = (tree / "charts/crossover/Chart.yaml").read_text(encoding="utf-8")
    project = (tree / "CMakeLists.txt").read_text(encoding="utf-8")
    return {"CMakeLists.txt": re.search(r"^project\(crossover VERSION ([0-9.]+)", project, re.MULTILINE)[1],
            **{f"Chart.yaml, {key}": re.search(rf"^{key}: (\S+)$", chart, re.MULTILINE)[1]
               for key in ("version", "appVersion")}}


def values(repository, machine):
    """Returns values.yaml with images of that repository, built on that machine. Raises Refused where either is not
    valid."""
    if not repository:
        raise Refused("image repository: expected one, such as registry.example/team, got none")
    if not _REPOSITORY.fullmatch(repository):
        raise Refused("image repository: expected a registry and a path, such as registry.example/team, "
                      f"got {repository!r}")
    if machine not in _ARCHITECTURES:
        raise Refused(f"machine: expected {' or '.join(_ARCHITECTURES)}, got {machine!r}")
    text, found = _REQUIRED.subn(rf"\g<1>{repository}/\g<2>", (CHART / "values.yaml").read_text(encoding="utf-8"))
    if found != 2:
        raise Refused(f"values.yaml: expected two repositories to be set, got {found}")
    text, found = _ARCHITECTURE.subn(rf'\g<1>"{_ARCHITECTURES[machine]}"', text)
    if found != 1:
        raise Refused(f"values.yaml has {found} architectures to be set, not one")
    return text


def package(repository, machine, when):
    """Returns the archive's bytes. `when` is the time of all files, in seconds since 1970. Raises Refused where
    versions differ."""
    if len(set(versions().values())) != 1:
        raise Refused(f"versions differ: {', '.join(f'{place}: {version}' for place, version in versions().items())}")
    files = {str(file.relative_to(CHART)): file.read_bytes() for file in CHART.rglob("*") if file.is_file()}
    files["values.yaml"] = values(repository, machine).encode()
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as compressed, \
            tarfile.open(fileobj=compressed, mode="w") as archive:
        for name in sorted(files, key=lambda name: (name != "Chart.yaml", name)):  # Helm looks for it first
            entry = tarfile.TarInfo(f"crossover/{name}")
            entry.size, entry.mtime = len(files[name]), when
            archive.addfile(entry, io.BytesIO(files[name]))
    return packed.getvalue()


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="package_chart", description="Packs charts/crossover.")
    parser.add_argument("repository", help="of the images, such as registry.example/team")
    parser.add_argument("machine", help="that they are built on, such as x86_64")
    parser.add_argument("out", type=Path, help="the folder for the archive")
    options = parser.parse_args(arguments)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=TREE, capture_output=True, text=True, check=True)
    try:
        content = package(options.repository, options.machine, int(log.stdout))
    except Refused as refused:
        print(f"package_chart: {refused}", file=sys.stderr)
        return 1
    archive = options.out / f"crossover-{versions()['Chart.yaml, version']}.tgz"
    archive.write_bytes(content)
    done = template(chart=archive)
    if done.returncode != 0:
        print(f"package_chart: {archive} is no chart: {done.stderr.strip()}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
