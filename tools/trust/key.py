"""Checks what a releaser gives before anything is built or written: the images' repository and the key."""

import os
import subprocess
import tempfile
from pathlib import Path

from tools.refused import refusal
from tools.trust import files
from tools.trust.tools import TREE, run

NONE = "none"
_PRIVATE = ("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----", "-----BEGIN ENCRYPTED COSIGN PRIVATE KEY-----")
_PUBLIC = "-----BEGIN PUBLIC KEY-----"
_EXAMPLE = "make release IMAGES=registry.example/team KEY=../cosign.key"
_HOW = f"a file with cosign's private key, or {NONE}, as in {_EXAMPLE}"


def checked_request(images, key, tree=TREE):
    """Raises Refused where a release may not begin: a repository or a key is missing or not valid, or the tree has
    changes that are not committed. Only a release without signatures may have these."""
    if not images:
        raise refusal("release", "IMAGES", f"the repository that the images will be in, as in {_EXAMPLE}", "none")
    files.check_repository(images, "release", "IMAGES")
    if not key:
        raise refusal("release", "KEY", _HOW, "none")
    if key == NONE:
        return
    _first_line(key, "KEY", _PRIVATE, _HOW)
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True, text=True, check=True)
    if changed.stdout:
        raise refusal("release", "tree", "one without changes, for a release with signatures",
                      f"changes of {changed.stdout.splitlines()[0][3:]}")


def password():
    """Returns the password of the key. Raises Refused where the environment has none."""
    if "COSIGN_PASSWORD" not in os.environ:
        raise refusal("release", "COSIGN_PASSWORD", "the password of KEY in the environment", "none")
    return os.environ["COSIGN_PASSWORD"]


def public_part(key, secret):
    """Returns the public key of a private one. Raises Refused where the password does not open it."""
    key = Path(key).resolve()
    _first_line(key, "KEY", _PRIVATE, _HOW)
    with tempfile.TemporaryDirectory(prefix="crossover-key-") as folder:
        out = Path(folder) / "key.pub"
        code, _ = run("cosign", "public-key", "--key", key, "--outfile", out, home=folder, password=secret)
        if code != 0:
            raise refusal(key, "COSIGN_PASSWORD", "the password of this key", "another one")
        return out.read_text(encoding="utf-8")


def checked_public(path):
    """Returns the path of a public key. Raises Refused where the file is none."""
    _first_line(path, "PUBLIC_KEY", (_PUBLIC,), "a file with a public key (cosign.pub)")
    return Path(path).resolve()


def _first_line(path, key, firsts, expected):
    try:
        with open(path, encoding="utf-8") as file:
            first = file.readline(200).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise refusal(key, path, expected, getattr(error, "strerror", None) or "another kind of file") from error
    if first not in firsts:
        raise refusal(key, path, expected, "a file that begins in another way")
