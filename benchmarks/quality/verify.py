"""verify counts what `python3 -m tools.verify_release` judges wrongly of one part of a release, without a network: the
release as it was signed must be accepted; with a changed byte, another key, a removed signature or a signature of
another image it must be refused, at the file that was forged.

Control: the checksums alone (sha256sum --check), which accept what has a wrong signature or none.
"""

import subprocess
import tempfile
from pathlib import Path

from benchmarks.quality import released
from benchmarks.runner.results import Goal, Measured, controlled
from tools.trust import files, known_bad

SCOPE = "component"
GPUS = "no GPUs"
NEEDS_BUILD = False
_GOAL = Goal("==", 0)
CASES = ("images", "chart", "bills", "archive")


def left_out(_case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return released.missing()


def measure(context, case):
    release = released.release()
    code, _, said = known_bad.verified(release.dist, release.public)
    wrong, unseen, tried = ([] if code == 0 else [f"as released: {said[-300:]}"]), [], 1
    for name in release.parts()[case]:
        for forgery in known_bad.FORGERIES:
            with tempfile.TemporaryDirectory(prefix="crossover-forged-", dir=release.folder) as scratch:
                folder = Path(scratch) / "dist"
                forged = release.forged(forgery, name, folder)
                code, refused, _ = known_bad.verified(folder, release.public)
                sums = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", files.SUMS], cwd=folder,
                                      capture_output=True, check=False)
            tried += 1
            wrong += [f"{name}: {forgery}"] if code != 1 or forged not in refused else []
            unseen += [f"{name}: {forgery}"] if sums.returncode == 0 else []
    context.say(f"    {wrong or 'all judged as they must be'}; checksums alone accept {len(unseen)} of {tried - 1}")
    yield Measured("verify", case, len(wrong), f"judged wrongly of {tried}", _GOAL, (len(wrong),),
                   controlled(_GOAL, "the checksums alone", len(unseen)),
                   "a release of this build, signed with a key made for it; cosign in a namespace without a network",
                   {"wrong": wrong, "control_accepts": unseen})
