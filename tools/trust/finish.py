"""Finishes a release's folder: bills of materials, checksums, and signatures or a mark that there are none."""

from pathlib import Path

from tools.trust import files
from tools.trust.oci import Archive
from tools.trust.signatures import Signer

_UNSIGNED = """These archives of Crossover {version} are not signed: they were made with KEY=none, for a registry of
one's own. No command can tell whether they are as they were made.
"""
_NO_BILLS = "They have no bills of materials either: they were made with BILLS=none.\n"


def sums(dist):
    """Returns the text of SHA256SUMS."""
    return "".join(f"{files.sha256_of(Path(dist) / name)}  {name}\n" for name in files.summed(dist))


def mark_unsigned(dist, bills):
    """Writes the mark of a release without signatures."""
    text = _UNSIGNED.format(version=files.version(dist)) + ("" if bills else _NO_BILLS)
    (Path(dist) / files.UNSIGNED).write_text(text, encoding="utf-8")


def sign(dist, key, secret):
    """Signs the images, both forms of the chart, the bills, the checksums and the archive for closed networks. Nothing
    is written unless all of it is signed."""
    dist, signer = Path(dist), Signer(key, secret)
    version = files.version(dist)
    made = {}
    for name in (files.chart(version), *files.bills_of_all(version), files.SUMS,
                 files.for_closed_networks(version)):
        made[name] = signer.file(dist / name)
    for name in files.IMAGES:
        file = files.image(name, version)
        with Archive(dist / file) as archive:
            made[file] = signer.image(archive.digest, archive.name)
            for image in archive.images:
                for bill in files.bills_of_image(name, version, image.architecture):
                    made[bill] = signer.bill(image.digest, archive.name, dist / bill)
    file = files.chart_artifact(version)
    with Archive(dist / file) as archive:
        made[file] = signer.image(archive.digest, archive.name)
    for name, signature in made.items():
        (dist / f"{name}{files.SIGNATURE}").write_bytes(signature)
    return sorted(made)
