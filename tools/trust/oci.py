"""Reads image archives: an OCI layout in a tar. An archive has one image, or one index with an image for each
architecture; or it has a chart. Nothing here needs a network or a registry."""

import hashlib
import io
import json
import re
import tarfile
from dataclasses import dataclass, field

from tools.packages.pins import ARCHITECTURES
from tools.refused import Refused, refusal
from tools.trust.files import sha256

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CHART_CONFIG = "application/vnd.cncf.helm.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1"
_NAME = "org.opencontainers.image.ref.name"
_BLOB = re.compile(r"blobs/sha256/([0-9a-f]{64})")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
LAYOUT = b'{"imageLayoutVersion": "1.0.0"}'  # the content of oci-layout
_FIXED = ("oci-layout", "index.json")
_LARGEST_JSON = 4 << 20  # bytes


@dataclass(frozen=True)
class Image:
    """Names one image of an archive."""

    architecture: str  # such as amd64
    digest: str  # of its manifest, with "sha256:"
    size: int  # of its manifest, in bytes
    layers: tuple  # digests, the lowest first

    @property
    def top(self):
        """Returns the descriptor of its manifest."""
        return {"mediaType": MANIFEST, "digest": self.digest, "size": self.size}


@dataclass
class File:
    """Describes a file in the tree of an image."""

    kind: str  # "file", "link" or "other"
    sha256: str = ""  # of a file's content
    md5: str = ""
    content: bytes = field(default=b"", repr=False)  # only of the files that were asked for
    target: str = ""  # of a link


class Archive:
    """An image archive whose blobs all have the digests and sizes that name them. Raises Refused for any other."""

    def __init__(self, path):
        self.path = path
        try:
            self._tar = tarfile.open(path, "r:")
        except (OSError, tarfile.TarError) as error:
            raise Refused(f"{path}: expected an image archive, got {_why(error)}") from error
        try:
            self._read()
        except (tarfile.TarError, ValueError, KeyError, TypeError, AttributeError, EOFError,
                RecursionError) as error:
            self.close()
            raise Refused(f"{path}: expected an OCI layout, got {_why(error)}") from error
        except Refused:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def close(self):
        self._tar.close()

    def blob(self, digest):
        """Returns an open file with the content of a blob."""
        return self._tar.extractfile(self._members[digest])

    def digests(self):
        """Returns the digests of all blobs."""
        return sorted(self._members)

    @property
    def top(self):
        """Returns the descriptor of what the archive has: an index, an image or a chart."""
        return {"mediaType": self.media_type, "digest": self.digest, "size": self.size}

    def digests_of(self, descriptor):
        """Yields the digests of what a descriptor names, and of all that this names."""
        yield descriptor["digest"]
        if descriptor["mediaType"] in (INDEX, MANIFEST):
            manifest = _json(self.blob(descriptor["digest"]))
            for each in (*manifest.get("manifests", ()), *manifest.get("layers", ()), manifest.get("config")):
                if each:
                    yield from self.digests_of(each)

    def blobs(self):
        """Returns {path: (open file, size)} of all blobs, as write_layout() takes them."""
        return {member.name: (self._tar.extractfile(member), member.size) for member in self._members.values()}

    def tree(self, image, wanted=re.compile(r"(?!)")):
        """Returns {path without the first slash: File} of an image, with the content of files whose path matches."""
        found = {}
        for digest in image.layers:
            with self.blob(digest) as packed, tarfile.open(fileobj=packed, mode="r:*") as layer:
                _put(layer, found, wanted)
        return found

    def _read(self):
        self._files = {}
        for member in self._tar:
            if member.isdir():
                continue
            if not member.isfile() or not (member.name in _FIXED or _BLOB.fullmatch(member.name)):
                raise refusal(self.path, "member", "a file of an OCI layout", member.name)
            if member.name in self._files:
                raise refusal(self.path, "member", "each file once", f"{member.name} twice")
            self._files[member.name] = member
        for name in _FIXED:
            if name not in self._files:
                raise refusal(self.path, "member", name, "none")
        self._members = {}
        for name, member in self._files.items():
            blob = _BLOB.fullmatch(name)
            if blob:
                digest = sha256(self._tar.extractfile(member))
                if digest != blob[1]:
                    raise refusal(self.path, name, "content of that digest", f"sha256:{digest}")
                self._members[f"sha256:{digest}"] = member
        self._walk()

    def _walk(self):
        index = _json(self._tar.extractfile(self._files["index.json"]))
        described = index["manifests"]
        if len(described) != 1:
            raise refusal(self.path, "index.json", "one image or one index", f"{len(described)}")
        top = described[0]
        self.digest, self.media_type, self.size = top["digest"], top["mediaType"], top["size"]
        self.name = top.get("annotations", {}).get(_NAME, "")
        self._reached = set()
        self.images = tuple(self._images(top))
        left = set(self._members) - self._reached
        if left:
            raise refusal(self.path, "blobs", "only those that the image names", min(left))

    def _images(self, descriptor):
        manifest = self._json_of(descriptor)
        if descriptor["mediaType"] == INDEX:
            for each in manifest["manifests"]:
                if each["mediaType"] != MANIFEST:
                    raise refusal(self.path, f"mediaType of {each['digest']}", MANIFEST, each["mediaType"])
                yield from self._images(each)
            return
        if descriptor["mediaType"] != MANIFEST:
            raise refusal(self.path, f"mediaType of {descriptor['digest']}", f"{INDEX} or {MANIFEST}",
                          descriptor["mediaType"])
        configuration = self._json_of(manifest["config"])
        for layer in manifest["layers"]:
            self._reach(layer)
        if manifest["config"].get("mediaType") == CHART_CONFIG:
            return
        if configuration["architecture"] not in ARCHITECTURES:
            raise refusal(self.path, "architecture", " or ".join(ARCHITECTURES), repr(configuration["architecture"]))
        yield Image(configuration["architecture"], descriptor["digest"], descriptor["size"],
                    tuple(layer["digest"] for layer in manifest["layers"]))

    def _reach(self, descriptor):
        digest = descriptor["digest"]
        if not _DIGEST.fullmatch(digest) or digest not in self._members:
            raise refusal(self.path, "blob", digest, "none")
        if self._members[digest].size != descriptor["size"]:
            raise refusal(self.path, digest, f"{descriptor['size']} bytes", f"{self._members[digest].size}")
        self._reached.add(digest)
        return digest

    def _json_of(self, descriptor):
        return _json(self.blob(self._reach(descriptor)))


def write_layout(path, blobs, top, name, when):
    """Writes an archive of blobs, {path: bytes or (open file, size)}, in which the descriptor `top` names the index,
    the image or the chart that it has."""
    index = {"schemaVersion": 2, "manifests": [{**top, "annotations": {_NAME: name}}]}
    write(path, {**blobs, "oci-layout": LAYOUT, "index.json": json.dumps(index, sort_keys=True).encode()}, when)


def write(path, files, when):
    """Writes a tar that depends on its content alone: {name: bytes or (open file, size)}, all of the time `when`."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            content, size = files[name] if isinstance(files[name], tuple) else (io.BytesIO(files[name]),
                                                                                len(files[name]))
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = size, when, 0o644
            tar.addfile(entry, content)


def _why(error):
    return str(error).partition("\n")[0] or type(error).__name__


def _json(stream):
    text = stream.read(_LARGEST_JSON + 1)
    if len(text) > _LARGEST_JSON:
        raise ValueError(f"a JSON of more than {_LARGEST_JSON} bytes")
    return json.loads(text)


def _put(layer, found, wanted):
    """Adds a layer to a tree. A whiteout removes what lower layers have."""
    for member in layer:
        path = member.name.removeprefix("./").strip("/")
        folder, _, base = path.rpartition("/")
        if base == ".wh..wh..opq":
            _remove(found, folder, itself=False)
        elif base.startswith(".wh."):
            _remove(found, f"{folder}/{base[4:]}".strip("/"))
        elif path:
            if path in found and not member.isdir():
                _remove(found, path)
            found[path] = _file(layer, member, found, wanted)


def _remove(found, path, itself=True):
    below = f"{path}/" if path else ""
    for name in [name for name in found if name.startswith(below) or (itself and name == path)]:
        del found[name]


def _file(layer, member, found, wanted):
    if member.issym():
        return File("link", target=member.linkname)
    if member.islnk():
        return found[member.linkname.removeprefix("./").strip("/")]
    if not member.isfile():
        return File("other")
    keeps, content = wanted.search(member.name.removeprefix("./")), b""
    sums = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    stream = layer.extractfile(member)
    while block := stream.read(1 << 20):
        for each in sums:
            each.update(block)
        content += block if keeps else b""
    return File("file", *(each.hexdigest() for each in sums), content)
