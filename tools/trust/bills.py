"""Makes the bills of materials of a release by syft, in SPDX and in CycloneDX, for each image and for the whole folder.

What a bill says depends on the release and on its revision alone: times and serial numbers derive from the revision. A
bill has all packages, and all files that no package has. licences.yaml states the licences that syft does not know.
"""

import datetime
import fnmatch
import hashlib
import json
import re
import tarfile
import tempfile
import urllib.parse
import uuid
from pathlib import Path

import yaml

from testing.commands import Build
from testing.processes import Failed
from tools.packages import debian, roots
from tools.trust import files
from tools.trust.oci import Archive
from tools.refused import Refused, refusal
from tools.trust.tools import TREE, last_line, run

LICENCES = Path(__file__).with_name("licences.yaml")
_PINNED = {"ziglang": "tools/install/cuda-13.0.txt"}  # Python packages, by the file that pins them
_CARRIED = re.compile(r"/lib/crossover/(?!libcrossover(-shrink)?\.so)")  # libraries of others in an archive
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:crossover:bills")
# Syft names a text that it does not know by its sum.
_NO_LICENCE = re.compile(r"sha256:|LicenseRef-[0-9a-f]{64}$|NOASSERTION$|NONE$|$")


class Licences:
    """Holds the table of licences.yaml."""

    def __init__(self, path=LICENCES):
        try:
            table = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
            self._stated = {name: entry["licence"] for part in ("debian", "compiled_in") for entry in table[part]
                            for name in entry["packages"] if entry["read"]}
            self.ours, self.reason = table["ours"]["licence"], table["ours"]["reason"]
            self.files, self.archives = table["ours"]["files"], table["ours"]["archives"]
        except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
            raise refusal(path, "table", "debian, ours and compiled_in, with a licence and a reason for each entry",
                          " ".join(str(error).split())) from error

    def of(self, package, found):
        """Returns what a bill states for a package, given the licences that syft found: the table's word counts where
        syft knows none."""
        known = [each for each in found if not _NO_LICENCE.match(each["value"])]
        return known or ([_licence(self._stated[package])] if package in self._stated else [])

    def entry(self, archive):
        """Returns what the table says of an archive of the release."""
        return next((entry for pattern, entry in self.archives.items() if fnmatch.fnmatch(archive, pattern)), None)


def _licence(expression):
    return {"value": expression, "spdxExpression": expression, "type": "declared", "urls": [], "locations": []}


class Maker:
    """Makes the bills of one release. `versions` returns the version of a package that programs of an architecture are
    built with."""

    def __init__(self, dist, revision, when, licences=None, versions=None):
        self.dist, self.revision, self.when = Path(dist).resolve(), revision, when
        self.version = files.version(dist)
        self.licences = licences or Licences()
        self._version_of = versions or _version
        self._made = {}  # name of a bill: its bytes
        self._packages = {}  # of all images, by package URL
        self._packaged = {}  # sums of files: the package URLs of those that have them

    def make(self):
        """Returns {name: bytes} of all bills. Raises Refused where a licence is not known."""
        with tempfile.TemporaryDirectory(prefix="crossover-bills-") as folder:
            self._folder = Path(folder)
            for name in files.IMAGES:
                with Archive(self.dist / files.image(name, self.version)) as archive:
                    images = archive.images
                for image in images:
                    self._of_image(name, image.architecture)
            self._of_all()
        return self._made

    def _of_image(self, name, architecture):
        archive = self.dist / files.image(name, self.version)
        found = self._scan(f"oci-archive:{archive}", f"crossover-{name}", "--platform", f"linux/{architecture}")
        packages = {each["id"]: each for each in found["artifacts"]}
        sums = {each["id"]: digest["value"] for each in found["files"] for digest in each.get("digests", [])
                if digest["algorithm"] == "sha256"}
        for relation in found["artifactRelationships"]:
            if relation["type"] == "contains" and relation["parent"] in packages:
                owner = packages[relation["parent"]]["purl"]
                self._packaged.setdefault(sums.get(relation["child"]), set()).add(owner)
        _leave_out_packaged(found, packages)
        ids = {each["location"]["path"].lstrip("/"): each["id"] for each in found["files"]}
        for path, entry in self.licences.files.items():
            if path in ids:
                self._add_ours(found, entry, ids[path], architecture)
        bills = files.bills_of_image(name, self.version, architecture)
        self._write(found, bills)
        self._packages.update((each["purl"], each) for each in found["artifacts"])

    def _of_all(self):
        found = self._scan("dir:.", "crossover", "--base-path", ".")
        listed = {name for name in files.summed(self.dist) if not files.is_bill(name)}
        found["files"] = [each for each in found["files"] if each["location"]["path"].lstrip("/") in listed]
        found["artifacts"], found["artifactRelationships"] = [], []
        added = {}
        for each in found["files"]:
            archive = each["location"]["path"].lstrip("/")
            entry = self.licences.entry(archive)
            if entry is None:
                raise refusal(LICENCES, archive, "an entry in archives", "none")
            self._add_ours(found, entry, each["id"], roots.native())
            if archive.endswith(".tar.gz"):
                added.update((package["purl"], package) for package in self._libraries(archive))
        have = {each["purl"] for each in found["artifacts"]}
        added.update(self._packages)
        found["artifacts"] += [each for url, each in sorted(added.items()) if url not in have]
        self._write(found, files.bills_of_all(self.version))

    def _libraries(self, archive):
        """Yields the packages of the other projects' libraries in an archive: those of an image that has the same
        file."""
        with tarfile.open(self.dist / archive, "r:gz") as packed:
            for member in packed:
                if not member.isfile() or not _CARRIED.search(member.name):
                    continue
                urls = self._packaged.get(files.sha256(packed.extractfile(member)))
                if not urls:
                    raise refusal(archive, member.name, "a file of a Debian package of an image", "none such")
                yield self._packages[min(urls)]

    def _scan(self, what, name, *more):
        """Returns what syft finds, as its own JSON."""
        out = self._folder / "found.json"
        folder = self.dist if what.startswith("dir:") else None
        code, said = run("syft", "scan", what, "--quiet", "--source-name", name, "--source-version", self.version,
                         "--output", f"syft-json={out}", *more, home=self._folder, folder=folder)
        if code != 0:
            raise Refused(f"{what}: syft: {last_line(said)}")
        return json.loads(out.read_text(encoding="utf-8"))

    def _add_ours(self, found, entry, file_id, architecture):
        """Adds a package of ours that has one file, and the packages whose code is in it."""
        ids = []
        have = {each["purl"]: each["id"] for each in found["artifacts"]}
        for name, version, url, licences in self._parts(entry, architecture):
            if url not in have:
                found["artifacts"].append(_package(name, version, url, licences))
                have[url] = found["artifacts"][-1]["id"]
            ids.append(have[url])
        found["artifactRelationships"].append({"parent": ids[0], "child": file_id, "type": "contains"})
        found["artifactRelationships"] += [{"parent": each, "child": ids[0], "type": "dependency-of"}
                                           for each in ids[1:]]

    def _parts(self, entry, architecture):
        yield (entry["name"], self.version, f"pkg:generic/{entry['name']}@{self.version}",
               [_licence(self.licences.ours)])
        for name in entry["has"]:
            version = self._version_of(name, architecture)
            url = f"pkg:pypi/{name}@{version}" if name in _PINNED else _debian_url(name, version)
            yield name, version, url, self.licences.of(name, [])

    def _write(self, found, bills):
        """Has syft write a bill in both formats."""
        for each in found["artifacts"]:
            each["licenses"] = self.licences.of(each["name"], each["licenses"])
            if not each["licenses"]:
                raise refusal(bills[0], f"package {each['name']} {each['version']}",
                              "a licence that syft knows, or one in tools/trust/licences.yaml", "none")
        _make_whole(found)
        source = self._folder / "bill.json"
        source.write_text(json.dumps(found), encoding="utf-8")
        outputs = [word for name, bill in zip(("spdx", "cyclonedx"), bills)
                   for word in ("--output", f"{name}-json={self._folder / bill}")]
        code, said = run("syft", "convert", source, "--quiet", *outputs, home=self._folder)
        if code != 0:
            raise Refused(f"{bills[0]}: syft: {last_line(said)}")
        for bill in bills:
            self._made[bill] = self._settled(bill, json.loads((self._folder / bill).read_text(encoding="utf-8")))

    def _settled(self, bill, content):
        """Returns the bytes of a bill, with times and serial numbers that derive from the revision."""
        serial = uuid.uuid5(_NAMESPACE, f"{self.revision} {bill}").urn
        time = datetime.datetime.fromtimestamp(self.when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        if "spdxVersion" in content:
            content["documentNamespace"] = serial
            content["creationInfo"]["created"] = time
        else:
            content["serialNumber"], content["metadata"]["timestamp"] = serial, time
        return files.written(content)


def _package(name, version, url, licences):
    return {"id": hashlib.sha256(url.encode()).hexdigest()[:16], "name": name, "version": version,
            "type": "deb" if url.startswith("pkg:deb/") else "binary", "foundBy": "crossover", "locations": [],
            "licenses": licences, "language": "", "cpes": [], "purl": url}


def _is_file(each):
    return each.get("metadata", {}).get("type") == "RegularFile"


def _leave_out_packaged(found, packages):
    """Leaves out what is not a file, and files that a package has: the package stands for them."""
    packaged = {relation["child"] for relation in found["artifactRelationships"]
                if relation["type"] == "contains" and relation["parent"] in packages}
    found["files"] = [each for each in found["files"] if _is_file(each) and each["id"] not in packaged]
    for each in packages.values():
        if isinstance(each.get("metadata"), dict):
            each["metadata"].pop("files", None)


def _make_whole(found):
    """Leaves out relations whose ends are gone, and what tells of the machine that made the bill."""
    ids = {each["id"] for part in ("artifacts", "files") for each in found[part]}
    found["artifactRelationships"] = [each for each in found["artifactRelationships"]
                                      if each["parent"] in ids and each["child"] in ids]
    metadata = found["source"].get("metadata", {})
    for key in ("userInput", "path"):
        if key in metadata:
            metadata[key] = found["source"]["name"]


def _version(package, architecture):
    """Returns the version of a package: the one that is installed here or, for another architecture, the one in the
    root that its build was linked against."""
    if package in _PINNED:
        pins_of_python = (TREE / _PINNED[package]).read_text(encoding="utf-8")
        return re.search(rf"^{package}==(\S+)", pins_of_python, re.MULTILINE)[1]
    root = "" if architecture == roots.native() else _sysroot(architecture)
    found = roots.versions_of(root) if root else debian.installed([package])
    if package not in found:
        raise refusal(root or "dpkg", package, "a package, whose code is in our programs", "none")
    return found[package]


def _sysroot(architecture):
    try:
        return Build(TREE / f"build/release-{architecture}").configured("CROSSOVER_SYSROOT")
    except Failed as failed:
        raise Refused(str(failed)) from failed


def _debian_url(name, version):
    return f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe='~')}"
