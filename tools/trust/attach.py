"""Writes images as OCI layouts to which their signatures and bills are attached, as `cosign save` does. So `cosign
load` takes all of it to a registry, and `cosign verify --local-image` reads it."""

import hashlib
import json
import shutil
from pathlib import Path

from tools.trust import files, signatures
from tools.trust.oci import INDEX, MANIFEST, Archive

_KINDS = {MANIFEST: "dev.cosignproject.cosign/image", INDEX: "dev.cosignproject.cosign/imageIndex"}
_BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_EMPTY = ("application/vnd.oci.empty.v1+json", b"{}")


def write_layouts(dist, folder):
    """Writes a layout for each image of a release that was verified into a new folder."""
    version = files.version(dist)
    for name in files.IMAGES:
        file = files.image(name, version)
        with Archive(Path(dist) / file) as archive:
            layout = Layout(Path(folder) / file.removesuffix(".tar"))
            layout.take(archive)
            top = {"mediaType": archive.media_type, "digest": archive.digest, "size": archive.size}
            layout.attach(top, signatures.OF_IMAGE, (Path(dist) / f"{file}{files.SIGNATURE}").read_bytes())
            for image in archive.images:
                subject = {"mediaType": MANIFEST, "digest": image.digest, "size": image.size}
                for bill in files.bills_of_image(name, version, image.architecture):
                    layout.attach(subject, files.predicate_type(bill),
                                  (Path(dist) / f"{bill}{files.SIGNATURE}").read_bytes())


class Layout:
    """An OCI layout that is written into a new folder."""

    def __init__(self, folder):
        self._folder = folder
        (folder / "blobs/sha256").mkdir(parents=True)

    def take(self, archive):
        """Writes an archive's image, marked as the one that cosign is to verify."""
        for digest in archive.digests():
            with archive.blob(digest) as content, open(self._path(digest), "wb") as out:
                shutil.copyfileobj(content, out, 1 << 20)
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [
            {"mediaType": archive.media_type, "digest": archive.digest, "size": archive.size,
             "annotations": {"kind": _KINDS[archive.media_type], "org.opencontainers.image.ref.name": archive.name}}]}
        (self._folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
        (self._folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")

    def attach(self, subject, predicate_type, bundle):
        """Adds a signature to what a descriptor names."""
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": _BUNDLE, "config": self._put(*_EMPTY),
                    "layers": [self._put(_BUNDLE, bundle)], "subject": subject,
                    "annotations": {"dev.sigstore.bundle.content": "dsse-envelope",
                                    "dev.sigstore.bundle.predicateType": predicate_type}}
        self._put(MANIFEST, json.dumps(manifest).encode())

    def _put(self, media_type, content):
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self._path(digest).write_bytes(content)
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def _path(self, digest):
        return self._folder / "blobs/sha256" / digest.removeprefix("sha256:")
