"""sbom counts what the bills of materials of a release lack: packages that dpkg lists in an image, files of its layers
that no package has, and licences. Syft makes the bills; the comparison (tools/trust/compare.py) reads the image by
itself. The case `folder` is the bills of the whole release: files of its folder, and licences.

Control: the bills of the release, for an image that has one package and one file more, or a folder that has one file
more.
"""

import os
import shutil
import tempfile
from pathlib import Path

from benchmarks.quality import released
from benchmarks.runner.results import Goal, Measured, controlled
from tools.packages.pins import ARCHITECTURES
from tools.trust import compare, files, known_bad, lacks
from tools.trust.oci import Archive

SCOPE = "component"
GPUS = "no GPUs"
NEEDS_BUILD = False
_GOAL = Goal("==", 0)
_FOLDER = "folder"
CASES = (*files.IMAGES, _FOLDER)


def left_out(_case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return released.missing()


def measure(context, case):
    release = released.release()
    bills = files.bills_of_all(release.version) if case == _FOLDER else [
        name for name in files.names(release.dist) if name.startswith(f"crossover-{case}-") and files.is_bill(name)]
    found = dict(lacks.of_release(release.dist))
    lacking = [f"{bill}: {what}" for bill in bills for what in found[bill]]
    with tempfile.TemporaryDirectory(prefix="crossover-added-") as folder:
        seen = (_of_folder if case == _FOLDER else _of_image)(release, case, bills, Path(folder))
    context.say(f"    {lacking or 'nothing is lacking'}; control: {seen}")
    yield Measured("sbom", case, len(lacking), f"lacking in {len(bills)} bills", _GOAL, (len(lacking),),
                   controlled(_GOAL, "added by hand", len(seen)),
                   "SPDX and CycloneDX by syft, against dpkg's lists and the layers of the image",
                   {"lacking": lacking, "control_saw": seen, "bills": bills})


def _of_image(release, case, bills, folder):
    """Returns which of the two additions the bills show, which they must both."""
    seen = []
    for bill in bills:
        architecture = next(each for each in ARCHITECTURES if f"-{each}." in bill)
        known_bad.with_additions(release.dist / files.image(case, release.version), folder / "added.tar", architecture)
        with Archive(folder / "added.tar") as archive:
            packages, paths = compare.lacks_of_image(archive, archive.images[0], compare.read(release.dist / bill))
            both = known_bad.PACKAGE in packages and known_bad.FILE in paths
            seen.append(f"{bill}: {known_bad.PACKAGE[0]}, {known_bad.FILE}" if both else "")
    return seen if all(seen) else []


def _of_folder(release, _case, bills, folder):
    copy = folder / "dist"
    shutil.copytree(release.dist, copy, copy_function=os.link)
    (copy / "added-by-hand").write_text("x", encoding="utf-8")
    found = dict(lacks.of_release(copy))
    return [f"{bill}: {what}" for bill in bills for what in found[bill]]
