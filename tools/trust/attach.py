"""Writes images and the chart as OCI layouts to which signatures and bills are attached, as `cosign save` does. So
`cosign load` takes all of it to a registry. It takes what is attached to the one thing that a layout is about, so each
architecture of an image has a layout of its own, with its bills, beside that of the index.
"""

import hashlib
import json
import shutil
from pathlib import Path

from tools.trust import files, signatures
from tools.trust.oci import INDEX, LAYOUT, MANIFEST, Archive

_KINDS = {MANIFEST: "dev.cosignproject.cosign/image", INDEX: "dev.cosignproject.cosign/imageIndex"}
_BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_EMPTY = ("application/vnd.oci.empty.v1+json", b"{}")


def write_layouts(dist, folder):
    """Writes a layout for each index, each of its images, and the chart of a release that was verified, into a new
    folder."""
    dist, folder = Path(dist), Path(folder)
    version = files.version(dist)

    def signature(name):
        return (dist / f"{name}{files.SIGNATURE}").read_bytes()

    for file in (*(files.image(name, version) for name in files.IMAGES), files.chart_artifact(version)):
        with Archive(dist / file) as archive:
            layout = Layout(folder / file.removesuffix(".tar"), archive, archive.top)
            layout.attach(signatures.OF_IMAGE, signature(file))
    for name in files.IMAGES:
        file = files.image(name, version)
        with Archive(dist / file) as archive:
            for image in archive.images:
                layout = Layout(folder / f"{file.removesuffix('.tar')}-{image.architecture}", archive, image.top)
                for bill in files.bills_of_image(name, version, image.architecture):
                    layout.attach(files.predicate_type(bill), signature(bill))


class Layout:
    """An OCI layout that is written into a new folder: what a descriptor of an archive names, and what is attached to
    it."""

    def __init__(self, folder, archive, top):
        self._folder, self._top = folder, top
        (folder / "blobs/sha256").mkdir(parents=True)
        for digest in archive.digests_of(top):
            with archive.blob(digest) as content, open(self._path(digest), "wb") as out:
                shutil.copyfileobj(content, out, 1 << 20)
        # The kind tells cosign which of the manifests it is to verify.
        annotations = {"kind": _KINDS[top["mediaType"]], "org.opencontainers.image.ref.name": archive.name}
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{**top, "annotations": annotations}]}
        (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
        (folder / "oci-layout").write_bytes(LAYOUT)

    def attach(self, predicate_type, bundle):
        """Adds a signature."""
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": _BUNDLE, "config": self._put(*_EMPTY),
                    "layers": [self._put(_BUNDLE, bundle)], "subject": self._top,
                    "annotations": {"dev.sigstore.bundle.content": "dsse-envelope",
                                    "dev.sigstore.bundle.predicateType": predicate_type}}
        self._put(MANIFEST, json.dumps(manifest).encode())

    def _put(self, media_type, content):
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self._path(digest).write_bytes(content)
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def _path(self, digest):
        return self._folder / "blobs/sha256" / digest.removeprefix("sha256:")
