"""Packs charts/crossover as a Helm archive that names the images of a release by their digests, and as an artifact for
registries:

    python3 -m tools.package_chart REPOSITORY DIST

REPOSITORY is where the images will be. DIST has their archives, and gets the two of the chart. The same images and
sources give the same archives. The versions of the chart, of what it installs, and of the project must be equal.
"""

import argparse
import gzip
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import yaml

from testing.rendering import CHART, TREE, template
from tools.refused import Refused, refusal
from tools.trust import files, make
from tools.trust.oci import Archive

_IMAGE = re.compile(r'(# Required: the repository of an image that holds (crossover-[a-z]+)\.\n +repository: )""'
                    r'(.*?digest: )""', re.DOTALL)
_ARCHITECTURE = re.compile(r'^(arch: )""$', re.MULTILINE)


def versions(tree=TREE):
    """Returns {place: version} for all places that name a version."""
    chart = (tree / "charts/crossover/Chart.yaml").read_text(encoding="utf-8")
    project = (tree / "CMakeLists.txt").read_text(encoding="utf-8")
    return {"CMakeLists.txt": re.search(r"^project\(crossover VERSION ([0-9.]+)", project, re.MULTILINE)[1],
            **{f"Chart.yaml, {key}": re.search(rf"^{key}: (\S+)$", chart, re.MULTILINE)[1]
               for key in ("version", "appVersion")}}


def values(repository, digests, architectures):
    """Returns values.yaml with images of that repository: {"crossover-extender": digest, ...}. If there is one
    architecture, pods run only on its nodes. Raises Refused if the repository is not valid."""
    files.check_repository(repository, "argument", "repository")
    text, found = _IMAGE.subn(lambda image: f'{image[1]}{repository}/{image[2]}{image[3]}"{digests[image[2]]}"',
                              (CHART / "values.yaml").read_text(encoding="utf-8"))
    if found != len(digests):
        raise refusal("values.yaml", "images", len(digests), found)
    if len(architectures) == 1:
        text, found = _ARCHITECTURE.subn(rf'\g<1>"{architectures[0]}"', text)
        if found != 1:
            raise refusal("values.yaml", "arch", "one", found)
    return text


def check_versions():
    """Raises Refused if versions differ."""
    found = versions()
    if len(set(found.values())) != 1:
        raise refusal("release", "version", "one in all places",
                      ", ".join(f"{version} in {place}" for place, version in found.items()))


def package(values_, when):
    """Returns the archive's bytes, with these values. `when` is the time of all files, in seconds since 1970. Raises
    Refused if versions differ."""
    check_versions()
    content = {str(file.relative_to(CHART)): file.read_bytes() for file in CHART.rglob("*") if file.is_file()}
    content["values.yaml"] = values_.encode()
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as compressed, \
            tarfile.open(fileobj=compressed, mode="w") as archive:
        for name in sorted(content, key=lambda name: (name != "Chart.yaml", name)):  # Helm looks for it first
            entry = tarfile.TarInfo(f"crossover/{name}")
            entry.size, entry.mtime = len(content[name]), when
            archive.addfile(entry, io.BytesIO(content[name]))
    return packed.getvalue()


def images(dist, version):
    """Returns ({"crossover-extender": digest, ...}, names of architectures) of the image archives of a folder."""
    digests, architectures = {}, set()
    for name in files.IMAGES:
        with Archive(dist / files.image(name, version)) as archive:
            digests[f"crossover-{name}"] = archive.digest
            architectures.add(tuple(image.architecture for image in archive.images))
    if len(architectures) != 1:
        raise refusal(dist, "images", "all of the same architectures", sorted(architectures))
    return digests, architectures.pop()


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="package_chart", description="Packs charts/crossover.")
    parser.add_argument("repository", help="of the images, such as registry.example/team")
    parser.add_argument("dist", type=Path, help="the folder with their archives, and for those of the chart")
    options = parser.parse_args(arguments)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=TREE, capture_output=True, text=True, check=True)
    when, version = int(log.stdout), versions()["Chart.yaml, version"]
    archive = options.dist / files.chart(version)
    try:
        archive.write_bytes(package(values(options.repository, *images(options.dist, version)), when))
        metadata = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
        make.chart_artifact(archive, metadata, f"{options.repository}/crossover:{version}",
                            options.dist / files.chart_artifact(version), when)
    except Refused as refused:
        print(f"package_chart: {refused}", file=sys.stderr)
        return 1
    done = template(chart=archive)
    if done.returncode != 0:
        print(f"package_chart: {archive} is no chart: {done.stderr.strip()}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
