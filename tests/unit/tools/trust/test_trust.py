"""Tests how bills and signatures of a release are made and verified, without syft and cosign: what is refused, and how
image archives and bills are read. tests/release has what needs both programs."""

import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import unittest
from unittest import mock

from tests.unit.tools.in_a_folder import InAFolder
from tools import package_chart, verify_release
from tools.trust import __main__ as program
from tools.trust import bills, compare, files, finish, key, lacks, make, oci

_PRIVATE = "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n"
_CONFIGURATION = "application/vnd.oci.image.config.v1+json"
_IMAGES = "registry.example/team"
_STATUS = "Package: {}\nStatus: install ok installed\nVersion: 1.0\n"


def layer(entries):
    """Returns the bytes of a layer: {path: bytes, a string for a link's target, or None for a folder}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, content in entries.items():
            entry = tarfile.TarInfo(path)
            if content is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


class Blobs:
    """Collects the blobs of an image archive."""

    def __init__(self):
        self.files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def put(self, content, **more):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"digest": f"sha256:{digest}", "size": len(content), **more}

    def image(self, layers, architecture="amd64"):
        configuration = self.put({"architecture": architecture}, mediaType=_CONFIGURATION)
        return self.put({"config": configuration, "layers": [self.put(layer(each)) for each in layers]},
                        mediaType=oci.MANIFEST)

    def write(self, path, *described):
        self.files["index.json"] = json.dumps({"manifests": described}).encode()
        oci.write(path, self.files, 7)
        return path


class OfAnArchive(InAFolder):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "image.tar"


class Archives(OfAnArchive):
    def refuses(self, pattern):
        self.refused(pattern, oci.Archive, self.archive)

    def test_an_image_is_read(self):
        blobs = Blobs()
        described = blobs.image([{"usr": None, "usr/a": b"one", "bin": "usr"}])
        with oci.Archive(blobs.write(self.archive, described)) as archive:
            self.assertEqual((archive.digest, len(archive.images)), (described["digest"], 1))
            tree = archive.tree(archive.images[0], re.compile("a$"))
        self.assertEqual((tree["usr/a"].content, tree["bin"].target), (b"one", "usr"))
        self.assertEqual(tree["usr/a"].sha256, hashlib.sha256(b"one").hexdigest())

    def test_an_index_has_an_image_for_each_architecture(self):
        blobs = Blobs()
        each = [blobs.image([{"a": name.encode()}], name) for name in ("amd64", "arm64")]
        index = blobs.put({"manifests": each}, mediaType=oci.INDEX)
        with oci.Archive(blobs.write(self.archive, index)) as archive:
            self.assertEqual([(image.architecture, image.digest) for image in archive.images],
                             [("amd64", each[0]["digest"]), ("arm64", each[1]["digest"])])
            self.assertEqual(archive.digest, index["digest"])

    def test_upper_layers_replace_and_remove(self):
        blobs = Blobs()
        described = blobs.image([{"a": b"1", "d": None, "d/b": b"1", "d/c": b"1", "e/f": b"1"},
                                 {"a": b"2", "d/.wh.b": b"", "e/.wh..wh..opq": b"", "e/g": b"2"}])
        with oci.Archive(blobs.write(self.archive, described)) as archive:
            tree = archive.tree(archive.images[0])
        self.assertEqual(sorted(tree), ["a", "d", "d/c", "e/g"])
        self.assertEqual(tree["a"].sha256, hashlib.sha256(b"2").hexdigest())

    def test_images_of_two_architectures_become_one_index(self):
        sources = []
        for architecture in ("arm64", "amd64"):
            blobs = Blobs()
            described = blobs.image([{"same": b"1"}, {"a": architecture.encode()}], architecture)
            sources.append(blobs.write(self.folder / f"{architecture}.tar",
                                       described | {"annotations": {"org.opencontainers.image.ref.name": "x:1"}}))
        out = [self.folder / name for name in ("one.tar", "two.tar")]
        make.index_of(sources, out[0], 9)
        make.index_of(reversed(sources), out[1], 9)
        self.assertEqual(out[0].read_bytes(), out[1].read_bytes())
        with oci.Archive(out[0]) as archive:
            self.assertEqual((archive.media_type, archive.name), (oci.INDEX, "x:1"))
            self.assertEqual([image.architecture for image in archive.images], ["amd64", "arm64"])
            tree = archive.tree(archive.images[1], re.compile("a$"))
            self.assertEqual((tree["same"].kind, tree["a"].content), ("file", b"arm64"))
        self.refused("amd64.tar: image: expected x:1 of another architecture, got x:1 of amd64", make.index_of,
                     [sources[1], sources[1]], self.archive, 9)

    def test_a_chart_becomes_an_artifact(self):
        chart = self.written("chart.tgz", "packed")
        make.chart_artifact(chart, {"name": "crossover", "version": "1.0.0", "description": "x"}, "r/crossover:1.0.0",
                            self.archive, 9)
        with oci.Archive(self.archive) as archive:
            self.assertEqual((archive.images, archive.name), ((), "r/crossover:1.0.0"))
            manifest = json.loads(archive.blob(archive.digest).read())
            self.assertEqual(archive.blob(manifest["layers"][0]["digest"]).read(), b"packed")

    def test_other_files_are_refused(self):
        self.refuses("image.tar: expected an image archive, got .*No such file")
        self.archive.write_bytes(b"x" * 2000)
        self.refuses("expected an image archive, got ")
        oci.write(self.archive, {"oci-layout": b"{}"}, 0)
        self.refuses("member: expected index.json, got none")
        oci.write(self.archive, {"oci-layout": b"{}", "index.json": b"{}", "../x": b""}, 0)
        self.refuses(r"member: expected a file of an OCI layout, got ../x")
        oci.write(self.archive, {"oci-layout": b"{}", "index.json": b"[]"}, 0)
        self.refuses("expected an OCI layout, got ")

    def test_blobs_that_are_not_what_they_must_be_are_refused(self):
        blobs = Blobs()
        described = blobs.image([{"a": b"1"}])
        name = f"blobs/sha256/{described['digest'][7:]}"
        good = dict(blobs.files)
        blobs.files[name] += b" "
        blobs.write(self.archive, described)
        self.refuses("blobs/sha256/[0-9a-f]{64}: expected content of that digest, got sha256:")
        blobs.files = dict(good)
        blobs.write(self.archive, {**described, "size": 1})
        self.refuses("sha256:[0-9a-f]{64}: expected 1 bytes, got ")
        blobs.write(self.archive, described, described)
        self.refuses("index.json: expected one image or one index, got 2")
        blobs.write(self.archive, {**described, "mediaType": "text/plain"})
        self.refuses("expected application/vnd.oci.image.index.v1.json or .*, got text/plain")
        del blobs.files[name]
        blobs.write(self.archive, described)
        self.refuses("blob: expected sha256:[0-9a-f]{64}, got none")
        blobs.files = {**good, f"blobs/sha256/{hashlib.sha256(b'more').hexdigest()}": b"more"}
        blobs.write(self.archive, described)
        self.refuses("blobs: expected only those that the image names, got sha256:")


class Comparisons(OfAnArchive):
    def lacking(self, entries, **bill):
        blobs = Blobs()
        with oci.Archive(blobs.write(self.archive, blobs.image([entries]))) as archive:
            return compare.lacks_of_image(archive, archive.images[0], compare.Bill(**bill))

    def test_packages_and_files_without_one_are_found(self):
        own = hashlib.md5(b"1").hexdigest()
        entries = {"bin": "usr/bin", "usr/bin/sh": b"1", "etc/made": b"2",
                   "var/lib/dpkg/status": (_STATUS.format("sh") + "\n" + _STATUS.format("gone").replace(
                       "ok installed", "ok config-files")).encode(),
                   "var/lib/dpkg/info/sh.list": b"/.\n/bin\n/bin/sh\n",
                   "var/lib/dpkg/info/sh.md5sums": f"{own}  bin/sh\n".encode()}
        packages, paths = self.lacking(entries)
        self.assertEqual(packages, [("sh", "1.0")], "a package that left its configuration is not installed")
        self.assertIn("etc/made", paths)
        self.assertNotIn("usr/bin/sh", paths, "/bin is a link to /usr/bin")
        known = {(path, hashlib.sha256(entries[path]).hexdigest()) for path in paths}
        self.assertEqual(self.lacking(entries, packages={("sh", "1.0")}, files=known), ([], []))
        changed = {**entries, "usr/bin/sh": b"3"}
        self.assertEqual(self.lacking(changed, packages={("sh", "1.0")}, files=known), ([], ["usr/bin/sh"]))

    def test_both_formats_are_read(self):
        spdx = {"spdxVersion": "SPDX-2.3", "files": [
            {"fileName": "/a", "checksums": [{"algorithm": "SHA1", "checksumValue": "1"},
                                             {"algorithm": "SHA256", "checksumValue": "2"}]}],
                "packages": [{"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": "1", "licenseDeclared": licence,
                              "licenseConcluded": "NOASSERTION"}
                             for name, licence in (("x", "MIT"), ("y", "NOASSERTION"),
                                                   ("z", f"LicenseRef-{'0' * 64}"), ("DocumentRoot", "NONE"))]}
        cyclonedx = {"components": [
            {"type": "file", "name": "/a", "hashes": [{"alg": "SHA-256", "content": "2"}]},
            {"type": "operating-system", "name": "debian", "version": "12"},
            {"type": "library", "name": "x", "version": "1", "licenses": [{"expression": "MIT"}]},
            {"type": "library", "name": "y", "version": "1"},
            {"type": "library", "name": "z", "version": "1", "licenses": [{"license": {"name": "sha256:0"}}]}]}
        for content in (spdx, cyclonedx):
            bill = compare.read(self.written("bill.json", json.dumps(content)))
            self.assertEqual((bill.packages, bill.files, bill.unlicensed),
                             ({(name, "1") for name in "xyz"}, {("a", "2")}, ["y", "z"]))

    def test_what_is_no_bill_is_refused(self):
        for text in ("", "{}", "[]", '{"components": [{}]}'):
            self.refused("bill.json: expected a bill in SPDX or CycloneDX, got ", compare.read,
                         self.written("bill.json", text))

    def test_files_of_a_folder_are_compared(self):
        self.written("a", "1")
        bill = compare.Bill(files={("a", hashlib.sha256(b"1").hexdigest())})
        self.assertEqual(compare.lacks_of_folder(["a"], self.folder, bill), [])
        self.written("a", "2")
        self.assertEqual(compare.lacks_of_folder(["a", "gone"], self.folder, bill), ["a", "gone"])


class Licences(InAFolder):
    def test_each_entry_of_the_table_has_a_licence_and_a_reason(self):
        table = bills.Licences()
        self.assertEqual(table.ours, "Apache-2.0")
        for entry in (*table.files.values(), *table.archives.values()):
            for name in entry["has"]:
                self.assertTrue(table.of(name, []), name)
        for archive, name in (("crossover-cli-0.1.0-linux-x86_64.tar.gz", "crossover-cli"),
                              ("crossover-docs-0.1.0.tar.gz", "crossover-docs"),
                              ("crossover-0.1.0.tgz", "crossover-chart"),
                              ("crossover-0.1.0-linux-aarch64.tar.gz", "libcrossover"),
                              ("crossover-extender-0.1.0.tar", "crossover-extender")):
            self.assertEqual(table.entry(archive)["name"], name)
        self.assertIsNone(table.entry("other.tar"))

    def test_the_table_counts_where_syft_knows_none(self):
        table, text = bills.Licences(), {"value": f"sha256:{'0' * 64}"}
        self.assertEqual([each["value"] for each in table.of("base-files", [text])], ["GPL-2.0-or-later"])
        self.assertEqual(table.of("base-files", [{"value": "MIT"}, text]), [{"value": "MIT"}], "syft knows one")
        self.assertEqual(table.of("unheard-of", [text]), [])

    def test_a_table_with_a_fault_is_refused(self):
        good = bills.LICENCES.read_text(encoding="utf-8")
        for text in ("", "[]", "debian: [", good.replace("    read: ", "    red: ", 1),
                     good.replace("licence: GPL-2.0-or-later", "license: GPL-2.0-or-later", 1)):
            self.refused("licences.yaml: table: expected debian, ours and compiled_in, .*, got ", bills.Licences,
                         self.written("licences.yaml", text))

    def test_a_package_without_one_ends_the_bill(self):
        self.written("crossover-1.2.3.tgz", "")
        found = {"artifacts": [{"name": "odd", "version": "2", "licenses": []}]}
        self.refused("x.spdx.json: package odd 2: expected a licence that syft knows, or one in .*, got none",
                     bills.Maker(self.folder, "r", 0)._write, found, ["x.spdx.json", "x.cdx.json"])


class Requests(InAFolder):
    def refuses(self, pattern, *words, **environment):
        with contextlib.redirect_stderr(io.StringIO()) as said, mock.patch.dict(os.environ, environment):
            self.assertEqual(program.main(words), 2)
        self.assertRegex(said.getvalue(), pattern)
        self.assertEqual(len(said.getvalue().splitlines()), 1)

    def test_what_a_releaser_must_give(self):
        self.refuses("IMAGES: expected the repository .*, got none", "check", "", "none")
        self.refuses("IMAGES: expected a registry and a path", "check", "A B", "none")
        self.refuses("KEY: expected a file with cosign's private key, or none, .*, got none", "check", _IMAGES, "")
        self.refuses("KEY: .*gone: expected .*, got No such file", "check", _IMAGES, str(self.folder / "gone"))
        other = str(self.written("other", "text\n"))
        self.refuses("KEY: .*other: expected .*, got a file that begins in another way", "check", _IMAGES, other)
        self.refuses("BILLS: expected nothing, or none where KEY=none, got no", "check", _IMAGES, "none", BILLS="no")
        self.refuses("BILLS: expected nothing, or none where KEY=none, got none", "check", _IMAGES, "k", BILLS="none")
        self.refuses("ARCHITECTURES: expected nothing, or some where KEY=none, got amd64", "check", _IMAGES, "k",
                     ARCHITECTURES="amd64")
        self.assertEqual(program.main(["check", _IMAGES, "none"]), 0)

    def test_versions_must_be_equal(self):
        with mock.patch.object(package_chart, "versions", lambda: {"CMakeLists.txt": "1", "Chart.yaml, version": "2"}):
            self.refuses("release: version: expected one in all places, got 1 in CMakeLists.txt, 2 in Chart.yaml",
                         "check", _IMAGES, "none")

    def test_a_release_with_signatures_has_a_clean_tree(self):
        private, tree = self.written("cosign.key", _PRIVATE), self.folder / "tree"
        subprocess.run(["git", "init", "--quiet", tree], check=True)
        key.checked_request(_IMAGES, private, tree)
        (tree / "changed").write_text("x", encoding="utf-8")
        self.refused("tree: expected one without changes, .*, got changes of changed", key.checked_request, _IMAGES,
                     private, tree)
        key.checked_request(_IMAGES, "none", tree)

    def test_the_password_comes_by_the_environment(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("COSIGN_PASSWORD", None)
            self.refuses("COSIGN_PASSWORD: expected the password of KEY in the environment, got none", "finish",
                         str(self.folder), str(self.written("cosign.key", _PRIVATE)))

    def test_words_that_are_no_command(self):
        for words in ((), ("sign",), ("finish", "dist"), ("main", "a", "b"), ("compare", "a", "b")):
            self.refuses("argument: command: expected check IMAGES KEY, .*, got ", *words)

    def test_a_folder_without_a_release(self):
        self.refuses("folder: expected one with the files of a release, got none", "compare", str(self.folder / "no"))
        self.refuses("chart: expected one crossover-VERSION.tgz, got none", "compare", str(self.folder))


class Finishing(InAFolder):
    def setUp(self):
        super().setUp()
        for name in ("crossover-1.2.3.tgz", "crossover-1.2.3.spdx.json"):
            self.written(name, "1")

    def test_checksums_do_not_depend_on_signatures(self):
        before = finish.sums(self.folder)
        self.assertEqual([line.split()[1] for line in before.splitlines()],
                         ["crossover-1.2.3.spdx.json", "crossover-1.2.3.tgz"])
        for name in (files.SUMS, files.UNSIGNED, f"crossover-1.2.3.tgz{files.SIGNATURE}"):
            self.written(name, "x")
        self.assertEqual(finish.sums(self.folder), before)
        self.written("crossover-1.2.3.tgz", "2")
        self.assertNotEqual(finish.sums(self.folder), before)

    def test_what_is_not_signed_says_so(self):
        finish.mark_unsigned(self.folder, True)
        text = (self.folder / files.UNSIGNED).read_text(encoding="utf-8")
        self.assertIn("Crossover 1.2.3 are not signed", text)
        self.assertNotIn("no bills", text)
        finish.mark_unsigned(self.folder, False)
        self.assertIn("no bills", (self.folder / files.UNSIGNED).read_text(encoding="utf-8"))

    def test_a_release_without_its_bills_lacks_them(self):
        self.refused("crossover-deviceplugin-1.2.3.tar: expected an image archive", dict, lacks.of_release(self.folder))


class Verification(InAFolder):
    def run_main(self, *words):
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()) as printed:
            code = verify_release.main([str(word) for word in words])
        return code, printed.getvalue(), said.getvalue()

    def test_bad_input_is_one_line(self):
        public = self.written("cosign.pub", "-----BEGIN PUBLIC KEY-----\n")
        dist = self.folder / "dist"
        dist.mkdir()
        cases = [((dist, self.folder / "no"), "PUBLIC_KEY: .*no: expected a file with a public key .*, got No such"),
                 ((dist, self.written("k", _PRIVATE)), "PUBLIC_KEY: .*k: expected .*, got a file that begins in"),
                 ((self.folder / "no", public), "folder: expected one with the files of a release, got none"),
                 ((dist, public), "chart: expected one crossover-VERSION.tgz, got none"),
                 ((dist, public, "--layouts", dist), "--layouts: .*dist: expected a folder that is not there yet")]
        for words, pattern in cases:
            with self.subTest(pattern):
                code, printed, said = self.run_main(*words)
                self.assertEqual((code, printed), (2, ""))
                self.assertRegex(said, f"^verify_release: .*{pattern}")
                self.assertEqual(len(said.splitlines()), 1)

    def test_a_release_that_is_marked_as_unsigned_is_refused(self):
        public = self.written("cosign.pub", "-----BEGIN PUBLIC KEY-----\n")
        dist = self.folder / "dist"
        dist.mkdir()
        (dist / "crossover-1.2.3.tgz").write_bytes(b"")
        finish.mark_unsigned(dist, True)
        code, printed, said = self.run_main(dist, public)
        self.assertEqual((code, printed), (2, ""))
        self.assertRegex(said, "UNSIGNED: expected a release with signatures, got one that is marked")


if __name__ == "__main__":
    unittest.main()
