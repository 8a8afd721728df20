"""Makes archives in OCI layout: an index of images of several architectures, and a chart as an artifact. What is made
depends on its parts and on the time of its files alone."""

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path

from tools.refused import refusal
from tools.trust.oci import CHART_CONFIG, INDEX, MANIFEST, Archive, write_layout

_CHART_CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


def index_of(archives, out, when):
    """Writes an archive with one index, of the image of each archive. They must have one name, and each another
    architecture."""
    with ExitStack() as stack:
        read = [stack.enter_context(Archive(path)) for path in archives]
        described = {}
        for each in read:
            image, = each.images
            if image.architecture in described or each.name != read[0].name:
                raise refusal(each.path, "image", f"{read[0].name} of another architecture",
                              f"{each.name} of {image.architecture}")
            described[image.architecture] = {"mediaType": MANIFEST, "digest": image.digest, "size": image.size,
                                             "platform": {"architecture": image.architecture, "os": "linux"}}
        blobs = {path: opened for each in read for path, opened in each.blobs().items()}
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [described[key] for key in sorted(described)]}
        _write(out, blobs, INDEX, _bytes(index), read[0].name, when)


def chart_artifact(chart, metadata, name, out, when):
    """Writes a packed chart as the artifact that `helm push` would make of it, without the time of the push. `metadata`
    is what its Chart.yaml has."""
    content, configuration = Path(chart).read_bytes(), _bytes(metadata)
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": _descriptor(CHART_CONFIG, configuration),
                "layers": [_descriptor(_CHART_CONTENT, content)],
                "annotations": {"org.opencontainers.image.title": metadata["name"],
                                "org.opencontainers.image.version": metadata["version"],
                                "org.opencontainers.image.description": metadata["description"]}}
    blobs = {_path(_digest(blob)): blob for blob in (content, configuration)}
    _write(out, blobs, MANIFEST, _bytes(manifest), name, when)


def _write(out, blobs, media_type, top, name, when):
    write_layout(out, {**blobs, _path(_digest(top)): top}, _descriptor(media_type, top), name, when)


def _descriptor(media_type, content):
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}


def _digest(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _path(digest):
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def _bytes(content):
    return json.dumps(content, sort_keys=True).encode()
