"""Makes releases that must be refused, and images that their bills do not fit: the controls of tests and figures."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tools.packages.pins import ARCHITECTURES
from tools.trust import files, finish, oci
from tools.trust.oci import Archive
from tools.refused import Refused
from tools.trust.signatures import Signer
from tools.trust.tools import TREE, last_line, run

REPOSITORY = "registry.example/team"
SECRET = "of the tests"  # opens keys that are made for one run
FORGERIES = ("a changed byte", "another key", "a removed signature", "a signature of another image",
             "what this key signed for another release")
PACKAGE, FILE = ("added-by-hand", "1.0"), "usr/bin/added-by-hand"


class Release:
    """A release of this tree, with bills and signatures, in a folder that the caller owns. It has what Debian has now
    where a package is not as it is pinned."""

    def __init__(self, folder, repository=REPOSITORY):
        self.folder, self.dist = Path(folder), Path(folder) / "dist"
        done = subprocess.run([TREE / "tools/build_release.sh", repository, self.dist, *ARCHITECTURES],
                              env={**os.environ, "PINS": "newest"}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"build_release: {last_line((done.stderr or done.stdout).strip())}")
        self.version = files.version(self.dist)
        self.private, self.public = self._key("ours")
        self.other_private, self.other_public = self._key("another")

    def finish(self):
        """Makes the bills, the archive for closed networks and the signatures, by the command of a release."""
        done = subprocess.run([sys.executable, "-B", "-m", "tools.trust", "finish", self.dist, self.private], cwd=TREE,
                              env={**os.environ, "COSIGN_PASSWORD": SECRET, "BILLS": ""}, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"finish: {last_line(done.stderr.strip())}")

    def parts(self):
        """Returns {part in words: names of its files}. Each file has a signature of its own, but for the last of the
        archive, which the signed checksums cover."""
        bill = {name: [each for architecture in ARCHITECTURES
                       for each in files.bills_of_image(name, self.version, architecture)] for name in files.IMAGES}
        return {"images": [files.image(name, self.version) for name in files.IMAGES],
                "chart": [files.chart(self.version), files.chart_artifact(self.version)],
                "bills": [*bill["extender"], *bill["deviceplugin"], *files.bills_of_all(self.version)],
                "archive": [files.for_closed_networks(self.version), files.SUMS,
                            f"crossover-docs-{self.version}.tar.gz"]}

    def forged(self, forgery, name, folder):
        """Writes a copy of the release into a new folder, with one file forged. Returns the name of the file that must
        be refused."""
        shutil.copytree(self.dist, folder, copy_function=os.link)
        signature = f"{name}{files.SIGNATURE}"
        if forgery == "a changed byte":
            _replace(folder / name, _with_a_changed_byte(self.dist / name))
            return name
        if forgery == FORGERIES[-1]:
            return self._of_another_release(name, folder)
        # The checksums have the signature that counts for a file without one.
        name = name if (self.dist / signature).exists() else files.SUMS
        signature = f"{name}{files.SIGNATURE}"
        if forgery == "another key":
            _replace(folder / signature, self._signed_by_another(name))
        elif forgery == "a removed signature":
            (folder / signature).unlink()
        else:
            other = files.image("deviceplugin" if "extender" in name else "extender", self.version)
            if self._is_bill_of_image(name):
                other = name.replace(*(("extender", "deviceplugin") if "extender" in name else
                                       ("deviceplugin", "extender")))
            _replace(folder / signature, (self.dist / f"{other}{files.SIGNATURE}").read_bytes())
        return name

    def _of_another_release(self, name, folder):
        """Puts another content in place of a file, with the right key's signature of that content. Returns the name of
        the file that must be refused."""
        signature = folder / f"{name}{files.SIGNATURE}"
        if name in {files.image(each, self.version) for each in files.IMAGES} | {files.chart_artifact(self.version)}:
            with Archive(self.dist / name) as archive:  # the same image, in an archive of other bytes
                _replace(folder / name, _with_other_times(archive, folder))
            return name
        if name == files.SUMS:
            lines = (self.dist / name).read_text(encoding="utf-8").splitlines()
            _replace(folder / name, "\n".join([f"{'0' * 64}{lines[0][64:]}", *lines[1:], ""]).encode())
            _replace(signature, Signer(self.private, SECRET).file(folder / name))
            return lines[0].split()[1]
        if name == files.for_closed_networks(self.version):
            _replace(folder / name, _airgap_of_another(self.dist / name, folder))
        else:
            _replace(folder / name, _with_a_changed_byte(self.dist / name))
        if signature.exists() and not self._is_bill_of_image(name):
            _replace(signature, Signer(self.private, SECRET).file(folder / name))
        return name

    def _is_bill_of_image(self, name):
        return files.is_bill(name) and name not in files.bills_of_all(self.version)

    def resign_sums(self, folder):
        """Makes and signs the checksums of a copy anew. Returns their text."""
        text = finish.sums(folder)
        _replace(folder / files.SUMS, text.encode())
        signature = Signer(self.private, SECRET).file(folder / files.SUMS)
        _replace(folder / f"{files.SUMS}{files.SIGNATURE}", signature)
        return text

    def _signed_by_another(self, name):
        signer = Signer(self.other_private, SECRET)
        for image in files.IMAGES:
            file = files.image(image, self.version)
            with Archive(self.dist / file) as archive:
                if name == file:
                    return signer.image(archive.digest, archive.name)
                for each in archive.images:
                    if name in files.bills_of_image(image, self.version, each.architecture):
                        return signer.bill(each.digest, archive.name, self.dist / name)
        if name == files.chart_artifact(self.version):
            with Archive(self.dist / name) as archive:
                return signer.image(archive.digest, archive.name)
        return signer.file(self.dist / name)

    def _key(self, name):
        code, said = run("cosign", "generate-key-pair", "--output-key-prefix", name, home=self.folder,
                         password=SECRET)
        if code != 0:
            raise Refused(f"cosign: {last_line(said)}")
        return self.folder / f"{name}.key", self.folder / f"{name}.pub"


def verified(dist, public_key):
    """Verifies a release as a user does, in a namespace without a network. Returns (exit code, names of the files that
    are refused, all that was printed)."""
    done = subprocess.run(["unshare", "--net", sys.executable, "-B", "-m", "tools.verify_release", dist, public_key],
                          cwd=TREE, capture_output=True, text=True, check=False)
    refused = {line.split()[2].rstrip(":") for line in done.stdout.splitlines() if line.startswith("REFUSED: ")}
    return done.returncode, refused, done.stdout + done.stderr


def with_additions(source, out, architecture):
    """Writes an archive of one image of another, with a package and a file more in a layer of its own."""
    with Archive(source) as archive:
        image = next(each for each in archive.images if each.architecture == architecture)
        manifest = json.loads(archive.blob(image.digest).read())
        configuration = json.loads(archive.blob(manifest["config"]["digest"]).read())
        blobs = {f"blobs/sha256/{digest[7:]}": archive.blob(digest).read() for digest in image.layers}
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for name, content in ((FILE, b"x"), (f"var/lib/dpkg/status.d/{PACKAGE[0]}",
                                             f"Package: {PACKAGE[0]}\nVersion: {PACKAGE[1]}\n".encode())):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))

    def put(content, **more):
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"digest": f"sha256:{digest}", "size": len(content), **more}

    configuration["rootfs"]["diff_ids"].append(f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}")
    manifest["layers"].append(put(gzip.compress(layer.getvalue(), mtime=0), mediaType=f"{oci.LAYER}.tar+gzip"))
    manifest["config"] |= put(json.dumps(configuration).encode())
    top = put(json.dumps(manifest).encode(), mediaType=oci.MANIFEST)
    oci.write_layout(out, blobs, top, "with additions", 0)


def _with_other_times(archive, folder):
    out = folder / "other.tar"
    oci.write_layout(out, archive.blobs(), archive.top, archive.name, 1)
    content = out.read_bytes()
    out.unlink()
    return content


def _airgap_of_another(path, folder):
    """Returns the bytes of an archive for closed networks with one file that differs."""
    out = folder / "other.tar"
    with tarfile.open(path, "r:") as source, tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as tar:
        for member in source:
            content = source.extractfile(member).read()
            if member.name.endswith(".tgz"):
                content = content[:-1] + bytes([content[-1] ^ 1])
            tar.addfile(member, io.BytesIO(content))
    content = out.read_bytes()
    out.unlink()
    return content


def _replace(path, content):
    """Writes a file anew. The copy of a release shares its files with the release."""
    path.unlink()
    path.write_bytes(content)


def _with_a_changed_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    return bytes(content)
