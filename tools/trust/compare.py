"""Compares a bill of materials with what it is about: an image, or the folder of a release.

Of an image it reads what dpkg lists, and all files of its layers. A file counts as packaged where dpkg's lists name it
with the sum that it has. The bills come from syft, which is another reader of the same image.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from tools.refused import Refused
from tools.trust.files import sha256_of

_DPKG = re.compile(r"^var/lib/dpkg/(status$|status\.d/|info/[^/]+\.(list|md5sums)$)")
_UNKNOWN = ("NOASSERTION", "NONE", "")
_UNKNOWN_TEXT = re.compile(r"LicenseRef-[0-9a-f]{64}$|sha256:")


@dataclass
class Bill:
    """Holds what a bill of either format has."""

    packages: set = field(default_factory=set)  # (name, version) of Debian's packages and of ours
    files: set = field(default_factory=set)  # (path without the first slash, SHA-256)
    unlicensed: list = field(default_factory=list)  # names of packages


def read(path):
    """Returns a Bill. Raises Refused where the file is none."""
    try:
        content = json.loads(Path(path).read_bytes())
        return _of_spdx(content) if "spdxVersion" in content else _of_cyclonedx(content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused(f"{path}: expected a bill in SPDX or CycloneDX, got {error}") from error


def _of_spdx(content):
    bill = Bill()
    for package in content["packages"]:
        if package["SPDXID"].startswith("SPDXRef-DocumentRoot"):
            continue
        bill.packages.add((package["name"], package["versionInfo"]))
        licence = [each for each in (package["licenseDeclared"], package["licenseConcluded"]) if each not in _UNKNOWN]
        if not licence or any(_UNKNOWN_TEXT.match(each) for each in licence):
            bill.unlicensed.append(package["name"])
    for file in content.get("files", []):
        for each in file["checksums"]:
            if each["algorithm"] == "SHA256":
                bill.files.add((file["fileName"].lstrip("/"), each["checksumValue"]))
    return bill


def _of_cyclonedx(content):
    bill = Bill()
    for each in content["components"]:
        if each["type"] == "file":
            bill.files.update((each["name"].lstrip("/"), hash_["content"]) for hash_ in each.get("hashes", [])
                              if hash_["alg"] == "SHA-256")
        elif each["type"] != "operating-system":
            bill.packages.add((each["name"], each["version"]))
            names = [licence.get("expression") or licence["license"].get("id") or licence["license"].get("name")
                     for licence in each.get("licenses", [])]
            if not names or any(_UNKNOWN_TEXT.match(name) for name in names):
                bill.unlicensed.append(each["name"])
    return bill


def lacks_of_image(archive, image, bill):
    """Returns ([(name, version)], [path]) of an image that its bill lacks: packages that dpkg lists, and files that no
    package has."""
    tree = archive.tree(image, _DPKG)
    packaged = _packaged(tree)
    files = {(path, file.sha256) for path, file in tree.items() if file.kind == "file" and path not in packaged}
    return sorted(_packages(tree) - bill.packages), sorted(path for path, _ in files - bill.files)


def lacks_of_folder(names, folder, bill):
    """Returns the names of files of a release that its bill lacks, or has with another sum."""
    def sum_of(path):
        return sha256_of(path) if path.is_file() else ""

    return sorted(name for name in names if (name, sum_of(Path(folder) / name)) not in bill.files)


def _packages(tree):
    """Returns {(name, version)} of all that dpkg lists as installed."""
    found = set()
    for path, file in tree.items():
        if path == "var/lib/dpkg/status" or re.match(r"var/lib/dpkg/status\.d/[^/]+(?<!\.md5sums)$", path):
            for paragraph in file.content.decode(errors="replace").split("\n\n"):
                fields = dict(re.findall(r"^(Package|Version|Status): (.*)$", paragraph, re.MULTILINE))
                if "Package" in fields and fields.get("Status", "installed").endswith("installed"):
                    found.add((fields["Package"], fields.get("Version", "")))
    return found


def _packaged(tree):
    """Returns the paths that a package has, as they are in the tree, with the sum that its package states."""
    listed, sums = set(), {}
    for path, file in tree.items():
        if path.endswith(".list") and path.startswith("var/lib/dpkg/info/"):
            listed.update(_real(line, tree) for line in file.content.decode(errors="replace").splitlines())
        elif path.endswith(".md5sums") and path.startswith("var/lib/dpkg/info/"):
            for line in file.content.decode(errors="replace").splitlines():
                digest, _, name = line.partition("  ")
                sums[_real(name, tree)] = digest
    return {path for path in listed if path in tree and sums.get(path, tree[path].md5) == tree[path].md5}


def _real(path, tree):
    """Returns a path as it is in the tree, where a folder at the top may be a link (/bin)."""
    path = path.strip("/")
    first, slash, rest = path.partition("/")
    link = tree.get(first)
    return f"{link.target.strip('/')}/{rest}" if slash and link and link.kind == "link" else path
