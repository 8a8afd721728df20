"""Makes what a release is trusted by. tools/release.sh calls it.

    python3 -m tools.trust check IMAGES KEY   check what a releaser gives, before anything is built
    python3 -m tools.trust open KEY           check that syft and cosign are there, as far as they are wanted, and that
                                              COSIGN_PASSWORD is the password of the key
    python3 -m tools.trust index OUT IN...    make one archive of image archives, one for each architecture
    python3 -m tools.trust finish DIST KEY    make bills, the archive for closed networks and checksums, then sign, or
                                              mark DIST as unsigned (KEY=none)
    python3 -m tools.trust compare DIST       compare the bills with the images and with the folder

BILLS=none in the environment leaves out the bills, for archives without signatures. The exit code is 1 where a bill
lacks something, and 2 where something is refused; one line says what.
"""

import os
import shutil
import sys
from pathlib import Path

from tools import package_chart
from tools.packages import roots
from tools.trust import files, key, make, tools
from tools.refused import Refused, refusal


def check(images, private_key):
    with_bills(private_key)
    architectures = os.environ.get("ARCHITECTURES", "")
    if architectures and private_key != key.NONE:
        raise refusal("release", "ARCHITECTURES", f"nothing, or some where KEY={key.NONE}", architectures)
    key.checked_request(images, private_key)
    package_chart.check_versions()


def with_bills(private_key):
    """Returns whether bills are wanted."""
    wanted = os.environ.get("BILLS", "")
    if wanted not in ("", key.NONE) or (wanted and private_key != key.NONE):
        raise refusal("release", "BILLS", f"nothing, or {key.NONE} where KEY={key.NONE}", wanted)
    return not wanted


def open_key(private_key):
    for name, wanted in (("syft", with_bills(private_key)), ("cosign", private_key != key.NONE)):
        if wanted:
            tools.program(name)
    builder = roots.cache() / "images-1/builder/usr/bin/buildah"
    if not builder.exists() and not shutil.which("buildah"):
        raise refusal("buildah", "program", f"{builder} or one in PATH", "none: tools/install.sh --images")
    check_password(private_key)


def check_password(private_key):
    if private_key != key.NONE:
        key.public_part(private_key, key.password())


def index(out, *archives):
    make.index_of(archives, Path(out), int(tools.of_last_commit("%ct")))


def finish(dist, private_key):
    from tools.trust import airgap, finish as finishing
    dist, bills = Path(dist), with_bills(private_key)
    secret = None if private_key == key.NONE else key.password()
    check_password(private_key)
    finishing.mark_unsigned(dist, bills)
    version, when = files.version(dist), int(tools.of_last_commit("%ct"))
    (dist / files.list_of_images(version)).write_text(airgap.images(dist), encoding="utf-8")
    if bills:
        from tools.trust.bills import Maker
        for name, content in Maker(dist, tools.of_last_commit("%H"), when).make().items():
            (dist / name).write_bytes(content)
        if compare(dist):
            raise refusal(dist, "bills of materials", "all packages and files", "fewer: python3 -m tools.trust compare "
                          f"{dist} names those that are missing")
    (dist / files.SUMS).write_text(finishing.sums(dist), encoding="utf-8")
    airgap.pack(dist, when)
    if secret is None:
        print(f"UNSIGNED: {dist} has no signatures (KEY=none)" + ("" if bills else " and no bills (BILLS=none)"))
    else:
        signed = finishing.sign(dist, private_key, secret)
        (dist / files.UNSIGNED).unlink()
        print(f"signed: {', '.join(signed)}; no transparency log was asked, nor another service")


def compare(dist):
    """Prints what bills lack. Returns 1 where one lacks something."""
    from tools.trust import lacks
    missing = 0
    for bill, found in lacks.of_release(Path(dist)):
        print(f"{bill}: {'; '.join(found) if found else 'all packages and files, with their licences'}")
        missing += len(found)
    return 1 if missing else 0


# {name: (function, how many arguments it takes at least, and at most)}
_COMMANDS = {"check": (check, 2, 2), "open": (open_key, 1, 1), "index": (index, 2, 9), "finish": (finish, 2, 2),
             "compare": (compare, 1, 1)}


def main(arguments=None):
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        function, least, most = _COMMANDS.get(words[0] if words else "", (None, 0, 0))
        if function is None or not least < len(words) <= most + 1:
            raise refusal("argument", "command", "check IMAGES KEY, open KEY, index OUT IN..., finish DIST KEY or "
                          "compare DIST", " ".join(words) or "none")
        return function(*words[1:]) or 0
    except Refused as refused:
        print(f"trust: {refused}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
