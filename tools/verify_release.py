"""Verifies a release without a network: images, chart, bills of materials and all other archives.

    python3 -m tools.verify_release DIST PUBLIC_KEY                   one line for each part; 1 if one is refused
    python3 -m tools.verify_release DIST PUBLIC_KEY --layouts FOLDER  then also write each image into FOLDER, as an OCI
                                                                      layout to which its signatures are attached

DIST is the folder with the files of the release, and PUBLIC_KEY that of its makers, from a place that is not the
release itself. cosign compares each signature with this key alone: no transparency log is asked, and no other service.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from testing.arguments import Parser
from tools.packages.pins import ARCHITECTURES
from tools.trust import airgap, attach, files, key
from tools.trust.oci import Archive
from tools.refused import Refused, refusal
from tools.trust.signatures import Verifier, stated

_SUM = re.compile(r"([0-9a-f]{64})  (crossover-[A-Za-z0-9_.-]+)")


@dataclass(frozen=True)
class Part:
    """A part of a release, and why it is refused, or ""."""

    kind: str  # image, chart, bill, sums or archive
    name: str
    why: str


class Release:
    """A folder that holds a release. Each check raises nothing for bad content: it returns why that is refused."""

    def __init__(self, dist, public_key):
        self.dist = Path(dist)
        self.version = files.version(dist)
        self._verifier = Verifier(public_key)
        if (self.dist / files.UNSIGNED).exists():
            raise refusal(dist, files.UNSIGNED, "a release with signatures", "one that is marked as made without")

    def parts(self):
        """Yields a Part for each thing that was verified."""
        sums, why = self._sums()
        yield Part("sums", files.SUMS, why)
        for name in files.IMAGES:
            yield from self._image(files.image(name, self.version), name)
        yield Part("chart", files.chart(self.version), self.file(files.chart(self.version)))
        artifact = files.chart_artifact(self.version)
        yield Part("chart", artifact, self._archive(artifact))
        for name in files.bills_of_all(self.version):
            yield Part("bill", name, self.file(name))
        whole = files.for_closed_networks(self.version)
        if (self.dist / whole).exists():
            yield Part("archive", whole, self.file(whole) or airgap.why_not(self.dist, sums))
        # If that archive was unpacked, its signature may lie beside its files.
        for name in sorted((set(sums) | set(files.names(self.dist))) - {whole, f"{whole}{files.SIGNATURE}"}):
            why = self._summed(name, sums)
            if why is not None:
                yield Part("archive", name, why)

    def file(self, name):
        """Returns why a file with a signature of its own is refused, or ""."""
        if not (self.dist / name).is_file():
            return "expected this file, got none"
        return self._verifier.file(self.dist / name, self._signature(name))

    def image(self, name, digest):
        """Returns why the signature of an image archive is refused, or ""."""
        return self._verifier.image(digest, self._signature(name))

    def bill(self, name, digest):
        """Returns why the bill of the image with that digest is refused, or ""."""
        bill, signature = self.dist / name, self._signature(name)
        if not bill.is_file():
            return "expected this file, got none"
        why = self._verifier.image(digest, signature, files.predicate_type(name))
        if not why and files.written(stated(signature)) != bill.read_bytes():
            why = "expected the bill that was signed, got another"
        return why

    def _archive(self, file):
        """Returns why an archive in OCI layout, or its signature, is refused, or ""."""
        try:
            with Archive(self.dist / file) as archive:
                return self.image(file, archive.digest)
        except Refused as refused:
            return str(refused)

    def _image(self, file, name):
        try:
            with Archive(self.dist / file) as archive:
                digest, images = archive.digest, archive.images
        except Refused as refused:
            yield Part("image", file, str(refused))
            return
        yield Part("image", file, self.image(file, digest))
        for image in images:
            for bill in files.bills_of_image(name, self.version, image.architecture):
                yield Part("bill", bill, self.bill(bill, image.digest))

    def _sums(self):
        """Returns ({name: sum}, why the checksums are refused)."""
        why = self.file(files.SUMS)
        if why:
            return {}, why
        lines = (self.dist / files.SUMS).read_text(encoding="utf-8").splitlines()
        found = [_SUM.fullmatch(line) for line in lines]
        if not all(found):
            return {}, f"expected a sum and a name in each line, got {lines[found.index(None)]!r}"
        return {each[2]: each[1] for each in found}, ""

    def _summed(self, name, sums):
        """Returns why a file of the folder is refused by the checksums, or None if they do not count for it."""
        path = self.dist / name
        if name == files.SUMS:
            return None
        if name.endswith(files.SIGNATURE):
            owner = name.removesuffix(files.SIGNATURE)
            if owner not in files.signed(self.version, ARCHITECTURES):
                return "expected only signatures that a release has, got this one"
            return None if (self.dist / owner).is_file() else "expected the file that it signs, got none"
        if name not in sums:
            return f"expected only files that {files.SUMS} lists, got this one"
        if not path.is_file():
            return "expected this file, got none"
        found = files.sha256_of(path)
        return "" if found == sums[name] else f"expected the sum {sums[name]}, got {found}"

    def _signature(self, name):
        return self.dist / f"{name}{files.SIGNATURE}"


def main(arguments=None):
    parser = Parser(prog="tools.verify_release", description=__doc__.partition("\n")[0])
    parser.add_argument("dist", type=Path, help="the folder with the files of the release")
    parser.add_argument("public_key", help="the file with the public key of its makers")
    parser.add_argument("--layouts", type=Path, help="a new folder for the images, with their signatures attached")
    options = parser.parse_args(arguments)
    try:
        public_key = key.checked_public(options.public_key)
        if options.layouts and options.layouts.exists():
            raise refusal("--layouts", options.layouts, "a folder that is not there yet", "one that is")
        release = Release(options.dist, public_key)
        refused = 0
        for part in release.parts():
            refused += bool(part.why)
            print(f"REFUSED: {part.kind} {part.name}: {part.why}" if part.why else f"good: {part.kind} {part.name}")
        if refused:
            print(f"verify_release: {options.dist}: {refused} parts are refused: do not use this release",
                  file=sys.stderr)
            return 1
        if options.layouts:
            attach.write_layouts(options.dist, options.layouts)
    except Refused as refused:
        print(f"verify_release: {refused}", file=sys.stderr)
        return 2
    print(f"Crossover {release.version}: all is as the owner of {options.public_key} signed it. No transparency log "
          "was asked, nor another service.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
