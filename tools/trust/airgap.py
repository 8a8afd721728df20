"""Makes what a cluster without a network is installed from: one archive of all of a release, and the list of the images
that an installation pulls."""

import re
import tarfile
from pathlib import Path

from testing.rendering import template
from tools.refused import refusal
from tools.trust import files
from tools.trust.oci import Archive

_IMAGE = re.compile(r"^ *(?:- )?image: *\"?([^\s\"]+)\"?$", re.MULTILINE)
_SCHEDULER = re.compile(r"(.*/kube-scheduler):v[0-9.]+$")
# Everything that a value switches on, so that the list has the images of each installation.
_ALL_ON = ["mps.enabled=true", "signaller.enabled=true", "deviceplugin.config.transport=ipc"]
_LIST = """# An installation of Crossover {version} pulls these images. Beside each is the file that has it.
{ours}
# This one is not in the release: the scheduler of your cluster's own version, which `kubectl version` prints as that of
# the server. scheduler.image.repository names a mirror of it.
{theirs}
"""


def images(dist):
    """Returns the text of the list. Raises Refused where the chart names an image that is not in the folder."""
    dist = Path(dist)
    version = files.version(dist)
    have = {}
    for name in files.IMAGES:
        with Archive(dist / files.image(name, version)) as archive:
            have[f"{archive.name.rpartition(':')[0]}@{archive.digest}"] = files.image(name, version)
    done = template(_ALL_ON, chart=dist / files.chart(version))
    if done.returncode != 0:
        raise refusal(files.chart(version), "chart", "one that can be rendered", done.stderr.strip())
    named = set(_IMAGE.findall(done.stdout))
    theirs = {match[1] for match in map(_SCHEDULER.fullmatch, named) if match}
    ours = {name for name in named if not _SCHEDULER.fullmatch(name)}
    if ours != set(have):
        raise refusal(files.chart(version), "images", ", ".join(sorted(have)), ", ".join(sorted(ours)))
    return _LIST.format(version=version, ours="\n".join(f"{name} {have[name]}" for name in sorted(ours)),
                        theirs="\n".join(f"{name}:vVERSION -" for name in sorted(theirs)))


def why_not(dist, sums):
    """Returns why the archive of a folder is not what `sums`, {name: SHA-256} of SHA256SUMS, says, or ""."""
    dist = Path(dist)
    version = files.version(dist)
    wanted = {f"crossover-{version}/{name}": digest for name, digest in sums.items()}
    wanted[f"crossover-{version}/{files.SUMS}"] = files.sha256_of(dist / files.SUMS)
    found = {}
    try:
        with tarfile.open(dist / files.for_closed_networks(version), "r:") as tar:
            for member in tar:
                if not member.isfile() or member.name in found or member.name not in wanted:
                    return f"expected only files that {files.SUMS} lists, each once, got {member.name!r}"
                found[member.name] = files.sha256(tar.extractfile(member))
    except (OSError, tarfile.TarError, EOFError) as error:
        return f"expected a tar, got {error}"
    return next((f"expected the sum {digest} of {name}, got {found.get(name, 'no such file')}"
                 for name, digest in wanted.items() if found.get(name) != digest), "")


def pack(dist, when):
    """Writes the archive: all that SHA256SUMS lists, and that file itself. Signatures lie beside it, so that its bytes
    do not depend on them."""
    dist = Path(dist)
    version = files.version(dist)
    name = files.for_closed_networks(version)
    with tarfile.open(dist / name, "w", format=tarfile.PAX_FORMAT) as tar:
        for each in sorted([*files.summed(dist), files.SUMS]):
            entry = tarfile.TarInfo(f"crossover-{version}/{each}")
            entry.size, entry.mtime, entry.mode = (dist / each).stat().st_size, when, 0o644
            with open(dist / each, "rb") as content:
                tar.addfile(entry, content)
    return name
