"""Signs single files and images by cosign, and verifies them. No service is asked: cosign gets a signing configuration
and a root of trust that name none, and verifies by the public key alone."""

import base64
import json
import tempfile
from pathlib import Path

from tools.trust import files
from tools.refused import Refused
from tools.trust.tools import last_line, run

OF_IMAGE = "https://sigstore.dev/cosign/sign/v1"  # what cosign itself states of an image that it signs
_STATEMENT = "https://in-toto.io/Statement/v1"
_NO_SERVICES = {"services.json": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                "root.json": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}
# Without it, cosign asks for the entry of a transparency log, which we do not make.
_NO_LOG = "--insecure-ignore-tlog=true"


class Signer:
    """Signs with one private key."""

    def __init__(self, key, secret):
        self._key, self._secret = Path(key).resolve(), secret

    def file(self, path):
        """Returns the signature of a file's bytes."""
        return self._signed("sign-blob", str(Path(path).resolve()))

    def image(self, digest, name, predicate_type=OF_IMAGE, predicate=None):
        """Returns the signature of a statement about an image: by default that it is ours."""
        statement = {"_type": _STATEMENT, "subject": [{"name": name, "digest": {"sha256": _hex(digest)}}],
                     "predicateType": predicate_type, "predicate": predicate or {}}
        return self._signed("attest-blob", "--statement", "statement.json", statement=statement)

    def bill(self, digest, name, bill):
        """Returns the signature of the statement that an image has a bill of materials, which is a file."""
        return self.image(digest, name, files.predicate_type(bill.name), json.loads(bill.read_bytes()))

    def _signed(self, verb, *words, statement=None):
        with tempfile.TemporaryDirectory(prefix="crossover-sign-") as name:
            folder = Path(name)
            for file, kind in _NO_SERVICES.items():
                (folder / file).write_text(json.dumps({"mediaType": kind}), encoding="utf-8")
            if statement:
                (folder / "statement.json").write_text(json.dumps(statement, ensure_ascii=False), encoding="utf-8")
            code, said = run("cosign", verb, "--yes", "--key", self._key, "--signing-config", "services.json",
                             "--trusted-root", "root.json", "--bundle", "signature.json", *words, home=folder,
                             password=self._secret)
            if code != 0:
                raise Refused(f"{words[-1]}: cosign: {last_line(said)}")
            return (folder / "signature.json").read_bytes()


class Verifier:
    """Verifies with one public key. Each method returns why a signature is refused, or ""."""

    def __init__(self, public_key):
        self._key = Path(public_key).resolve()

    def file(self, path, signature):
        return self._verified("verify-blob", signature, str(Path(path).resolve()))

    def image(self, digest, signature, predicate_type=OF_IMAGE):
        return self._verified("verify-blob-attestation", signature, "--type", predicate_type, "--digestAlg", "sha256",
                              "--digest", _hex(digest))

    def _verified(self, verb, signature, *words):
        signature = Path(signature).resolve()
        if not signature.is_file():
            return f"expected the signature {signature.name}, got none"
        with tempfile.TemporaryDirectory(prefix="crossover-verify-") as folder:
            code, said = run("cosign", verb, "--key", self._key, "--bundle", signature, _NO_LOG, *words, home=folder)
        why = last_line(said).removeprefix("error during command execution: ")
        return f"expected the signature of this key over this content, got another ({why})" if code else ""


def stated(signature):
    """Returns what a signature states of an image (its predicate). The signature must be verified."""
    envelope = json.loads(Path(signature).read_bytes())["dsseEnvelope"]
    return json.loads(base64.b64decode(envelope["payload"]))["predicate"]


def _hex(digest):
    return digest.removeprefix("sha256:")
