"""Names the files of a release's folder (dist/)."""

import hashlib
import json
import re
from pathlib import Path

from tools.refused import refusal

SIGNATURE = ".sigstore.json"
SUMS = "SHA256SUMS"
UNSIGNED = "UNSIGNED"
KINDS = {"spdx": "https://spdx.dev/Document", "cdx": "https://cyclonedx.org/bom"}  # suffix of a bill: predicate type
IMAGES = ("deviceplugin", "extender")
_BILL = re.compile(rf"\.({'|'.join(KINDS)})\.json$")
_REPOSITORY = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_AIRGAP = re.compile(r"crossover-[0-9.]+-airgap\.tar")
_CHART = re.compile(r"crossover-([0-9]+\.[0-9]+\.[0-9]+)\.tgz")


def check_repository(repository, where, key):
    """Raises Refused where this is no repository of images. `where` and `key` name the place that has it."""
    if not repository or not _REPOSITORY.fullmatch(repository):
        raise refusal(where, key, "a registry and a path, such as registry.example/team",
                      repr(repository) if repository else "none")


def is_bill(name):
    return _BILL.search(name) is not None


def predicate_type(bill):
    return KINDS[_BILL.search(bill)[1]]


def version(dist):
    """Returns the version of a release: that of its chart. Raises Refused where there is not one chart."""
    if not Path(dist).is_dir():
        raise refusal(dist, "folder", "one with the files of a release", "none")
    found = [match[1] for match in map(_CHART.fullmatch, names(dist)) if match]
    if len(found) != 1:
        raise refusal(dist, "chart", "one crossover-VERSION.tgz", len(found) or "none")
    return found[0]


def names(dist):
    """Returns the names of all that is in the folder, sorted."""
    return sorted(path.name for path in Path(dist).iterdir())


def image(name, version_):
    return f"crossover-{name}-{version_}.tar"


def chart(version_):
    return f"crossover-{version_}.tgz"


def chart_artifact(version_):
    return f"crossover-chart-{version_}.tar"


def list_of_images(version_):
    return f"crossover-{version_}-images.txt"


def for_closed_networks(version_):
    return f"crossover-{version_}-airgap.tar"


def bills_of_image(name, version_, architecture):
    return [f"crossover-{name}-{version_}-{architecture}.{kind}.json" for kind in KINDS]


def bills_of_all(version_):
    return [f"crossover-{version_}.{kind}.json" for kind in KINDS]


def signed(version_, architectures):
    """Returns the names of the files that have a signature of their own."""
    return [*(image(name, version_) for name in IMAGES), chart(version_), chart_artifact(version_), SUMS,
            for_closed_networks(version_), *bills_of_all(version_),
            *(bill for name in IMAGES for each in architectures for bill in bills_of_image(name, version_, each))]


def summed(dist):
    """Returns the names of the files that SHA256SUMS lists: all but itself, signatures and the mark UNSIGNED, so that
    the sums of a release do not depend on who signs it; and the archive for closed networks, which has the sums."""
    return [name for name in names(dist) if name not in (SUMS, UNSIGNED) and not name.endswith(SIGNATURE) and
            not _AIRGAP.fullmatch(name)]


def sha256(stream):
    """Returns the SHA-256 of an open binary file, in hexadecimal digits."""
    found = hashlib.sha256()
    while block := stream.read(1 << 20):
        found.update(block)
    return found.hexdigest()


def sha256_of(path):
    """Returns the SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as file:
        return sha256(file)


def written(bill):
    """Returns the bytes of a bill, given as data. The same bill always has the same bytes."""
    return (json.dumps(bill, indent=1, ensure_ascii=False) + "\n").encode()
