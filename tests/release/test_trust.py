"""Tests what a release is trusted by: bills of materials, signatures, and the command that verifies them. It makes a
release of the tree for both architectures, as root."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from testing.processes import Failed
from testing import registry
from tools.packages.pins import ARCHITECTURES
from tools.trust import attach, bills, compare, files, known_bad, lacks, signatures, tools
from tools.trust.oci import Archive
from tools.refused import Refused


class Trust(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="crossover-trust-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        try:
            cls.release = known_bad.Release(cls.folder)
        except Refused as refused:
            raise Failed(str(refused)) from refused
        with _without_a_network():
            try:
                cls.release.finish()
            except Refused as refused:
                raise Failed(str(refused)) from refused
        cls.dist, cls.version = cls.release.dist, cls.release.version

    def scratch(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        self.addCleanup(shutil.rmtree, folder)
        return Path(folder)

    def test_a_release_is_verified_without_a_network(self):
        code, refused, said = known_bad.verified(self.dist, self.release.public)
        self.assertEqual((code, refused), (0, set()), said)
        self.assertIn("No transparency log was asked", said)
        for name in files.names(self.dist):
            if not name.endswith(files.SIGNATURE):
                self.assertIn(f" {name}\n", said)

    def test_each_forgery_is_refused(self):
        """For each part of a release, each forgery is found at the file that was forged."""
        for part, names in self.release.parts().items():
            for forgery in known_bad.FORGERIES:
                for name in sorted({names[0], names[-1]}):
                    with self.subTest(forgery, part=part, name=name):
                        folder = self.scratch() / "dist"
                        forged = self.release.forged(forgery, name, folder)
                        code, refused, said = known_bad.verified(folder, self.release.public)
                        self.assertEqual(code, 1, said)
                        self.assertIn(forged, refused)

    def test_the_signature_alone_refuses_what_the_checksums_refuse(self):
        """A byte is changed, and the checksums are made and signed again, so that they fit."""
        for name in (files.image("extender", self.version), files.chart(self.version),
                     files.bills_of_image("extender", self.version, "amd64")[0], files.bills_of_all(self.version)[1]):
            with self.subTest(name):
                folder = self.scratch() / "dist"
                self.release.forged("a changed byte", name, folder)
                sums = self.release.resign_sums(folder)
                code, refused, said = known_bad.verified(folder, self.release.public)
                # The archive for closed networks has the former sums.
                whole = files.for_closed_networks(self.version)
                self.assertEqual((code, refused), (1, {name, whole}), said)
                self.assertIn(name, sums)

    def test_a_signature_that_no_release_has_is_refused(self):
        folder = self.scratch() / "dist"
        shutil.copytree(self.dist, folder, copy_function=os.link)
        name = f"crossover-docs-{self.version}.tar.gz{files.SIGNATURE}"
        (folder / name).write_text("{}", encoding="utf-8")
        self.assertEqual(known_bad.verified(folder, self.release.public)[:2], (1, {name}))

    def test_another_key_verifies_nothing(self):
        code, refused, said = known_bad.verified(self.dist, self.release.other_public)
        self.assertEqual(code, 1, said)
        signed = {name.removesuffix(files.SIGNATURE) for name in files.names(self.dist)
                  if name.endswith(files.SIGNATURE)}
        self.assertLessEqual(signed, refused)

    def test_what_is_added_or_gone_is_refused(self):
        added = "crossover-extra.txt"
        for name in (added, f"crossover-docs-{self.version}.tar.gz", files.image("extender", self.version),
                     files.bills_of_all(self.version)[0]):
            with self.subTest(name):
                folder = self.scratch() / "dist"
                shutil.copytree(self.dist, folder, copy_function=os.link)
                if name == added:
                    (folder / name).write_text("x", encoding="utf-8")
                else:
                    (folder / name).unlink()
                code, refused, said = known_bad.verified(folder, self.release.public)
                self.assertEqual(code, 1, said)
                self.assertIn(name, refused)

    def test_cosign_alone_verifies_what_has_its_signature_attached(self):
        """It verifies no index without a registry: the next test has one."""
        layouts = self.scratch() / "layouts"
        attach.write_layouts(self.dist, layouts)
        cases = [("chart", ("verify",))]
        cases += [(f"{name}-{architecture}", ("verify-attestation", "--type", kind)) for name in files.IMAGES
                  for architecture in ARCHITECTURES for kind in ("spdxjson", "cyclonedx")]
        for what, words in cases:
            name, _, architecture = what.partition("-")
            layout = layouts / "-".join(filter(None, ("crossover", name, self.version, architecture)))
            for key, code in ((self.release.public, 0), (self.release.other_public, 1)):
                with self.subTest(what, words=words, key=key.name), _without_a_network():
                    found, said = tools.run("cosign", *words, "--local-image", layout, "--key", key,
                                            "--insecure-ignore-tlog=true", home=self.scratch())
                    self.assertEqual(found != 0, code != 0, said)

    def test_signatures_come_into_a_registry_with_the_image(self):
        """A registry on loopback gets the image by `cosign load`. There cosign verifies the index, and the bills of
        each architecture."""
        layouts = self.scratch() / "layouts"
        done = subprocess.run([sys.executable, "-B", "-m", "tools.verify_release", self.dist, self.release.public,
                               "--layouts", layouts], cwd=tools.TREE, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with registry.serving() as address:
            index = f"{address}/team/crossover-extender:{self.version}"

            def verify(image, key, *words):
                return tools.run("cosign", *words or ("verify",), "--key", key, "--insecure-ignore-tlog=true", image,
                                 home=self.scratch())

            def load(image, layout):
                code, said = tools.run("cosign", "load", "--dir", layouts / layout, image, home=self.scratch())
                self.assertEqual(code, 0, said)

            load(index, f"crossover-extender-{self.version}")
            found = verify(index, self.release.public)
            self.assertEqual(found[0], 0, found[1])
            for architecture in ARCHITECTURES:
                image = f"{index}-{architecture}"
                load(image, f"crossover-extender-{self.version}-{architecture}")
                for kind in ("spdxjson", "cyclonedx"):
                    found = verify(image, self.release.public, "verify-attestation", "--type", kind)
                    self.assertEqual(found[0], 0, found[1])
            self.assertNotEqual(verify(index, self.release.other_public)[0], 0, "the control")

    def test_bills_do_not_depend_on_when_they_are_made(self):
        revision, when = tools.of_last_commit("%H"), int(tools.of_last_commit("%ct"))
        made = bills.Maker(self.dist, revision, when).make()
        self.assertEqual(set(made), {name for name in files.names(self.dist) if files.is_bill(name)})
        for name, content in made.items():
            self.assertTrue(content == (self.dist / name).read_bytes(), name)
            self.assertNotIn(str(self.folder).encode(), content, "no path of this machine")
        of_another = bills.Maker(self.dist, "1" * 40, when + 1).make()
        for name, content in of_another.items():
            self.assertFalse(content == made[name], f"the control: {name} of another revision")

    def test_bills_lack_nothing(self):
        found = dict(lacks.of_release(self.dist))
        self.assertEqual(len(found), 10)
        self.assertEqual(found, dict.fromkeys(found, []))

    def test_what_is_added_to_an_image_is_found(self):
        """This is the control: a package and a file that were added by hand."""
        for name, architecture in ((name, each) for name in files.IMAGES for each in ARCHITECTURES):
            source, out = self.dist / files.image(name, self.version), self.scratch() / "added.tar"
            known_bad.with_additions(source, out, architecture)
            with Archive(out) as archive:
                image = archive.images[0]
                for bill in files.bills_of_image(name, self.version, image.architecture):
                    packages, paths = compare.lacks_of_image(archive, image, compare.read(self.dist / bill))
                    self.assertEqual(packages, [known_bad.PACKAGE])
                    self.assertIn(known_bad.FILE, paths)

    def test_a_file_that_a_package_has_otherwise_is_found(self):
        with Archive(self.dist / files.image("extender", self.version)) as archive:
            bill = compare.read(self.dist / files.bills_of_image("extender", self.version, "amd64")[0])
            tree = archive.tree(archive.images[0])
            with mock.patch.object(archive, "tree", lambda image, wanted: _changed(tree_of(image, wanted))):
                tree_of = Archive.tree.__get__(archive)
                self.assertEqual(compare.lacks_of_image(archive, archive.images[0], bill), ([], ["usr/bin/dash"]))
            self.assertIn("usr/bin/dash", tree)

    def test_a_licence_that_is_not_known_ends_the_bill(self):
        table = bills.LICENCES.read_text(encoding="utf-8")
        self.assertIn("[base-files]", table)
        other = self.scratch() / "licences.yaml"
        other.write_text(table.replace("[base-files]", "[base-tiles]"), encoding="utf-8")
        with self.assertRaisesRegex(Refused, "package base-files 12.*: expected a licence .*, got none"):
            bills.Maker(self.dist, "1" * 40, 0, bills.Licences(other)).make()

    def test_the_password_of_a_key_is_checked(self):
        for word, code in ((known_bad.SECRET, 0), ("another", 2)):
            done = subprocess.run(["python3", "-B", "-m", "tools.trust", "open", self.release.private], text=True,
                                  cwd=tools.TREE, env={**os.environ, "COSIGN_PASSWORD": word}, capture_output=True,
                                  check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1 if code else 0)

    def test_no_socket_but_those_of_this_machine_is_opened(self):
        """cosign could ask where there is a network: the calls of the system show that it does not try."""
        chart = self.dist / files.chart(self.version)
        bill = self.dist / files.bills_of_image("extender", self.version, "amd64")[0]
        signer, verifier = signatures.Signer(self.release.private, known_bad.SECRET), signatures.Verifier(
            self.release.public)
        with Archive(self.dist / files.image("extender", self.version)) as archive:
            digest = archive.digest
        for what, act in (("sign a file", lambda: signer.file(chart)),
                          ("sign a bill", lambda: signer.bill(digest, "name", bill)),
                          ("verify a file", lambda: verifier.file(chart, f"{chart}{files.SIGNATURE}")),
                          ("verify a bill", lambda: verifier.image(digest, f"{bill}{files.SIGNATURE}",
                                                                   files.predicate_type(bill.name)))):
            with self.subTest(what):
                self.assertNotIn("AF_INET", self.sockets(act))
        with mock.patch.object(signatures, "_NO_LOG", "--insecure-ignore-tlog=false"):
            self.assertIn("AF_INET", self.sockets(lambda: verifier.file(chart, f"{chart}{files.SIGNATURE}")),
                          "the control")

    def sockets(self, act):
        """Returns the calls of `socket` of all programs that a function starts, in a namespace without a network."""
        log = self.scratch() / "strace"
        with _in_front("unshare", "--net", "strace", "-f", "-qq", "-e", "trace=socket", "-o", str(log)):
            act()
        return log.read_text(encoding="utf-8")


def _changed(tree):
    tree["usr/bin/dash"].md5 = "0" * 32
    return tree


def _in_front(*words):
    """Puts a command in front of each program that tools.run starts."""
    start = subprocess.run
    return mock.patch.object(tools.subprocess, "run", lambda command, **more: start([*words, *command], **more))


def _without_a_network():
    return _in_front("unshare", "--net")


if __name__ == "__main__":
    unittest.main()
