"""airgap counts the steps of tests/cluster/release/test_airgap.py that do not hold: a release is verified, taken to
registries on loopback and installed from there by digest, no image is pulled that its list lacks, and two jobs take
turns.

Control: an archive with a changed byte, which must be refused, and a list that lacks an image, which must be found.
"""

import os
from pathlib import Path

from benchmarks.quality import released
from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing import registry
from tests.cluster.release import test_airgap

SCOPE = "component"
CASES = ("installation",)
_GOAL = Goal("==", 0)
_DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv"
_STEPS = ("test_1_the_archive_is_verified", "test_2_the_registries_get_what_the_list_names",
          "test_3_it_is_installed_by_digest", "test_4_no_image_is_pulled_that_the_list_lacks",
          "test_5_two_jobs_take_turns")

_CAUGHT = (_STEPS[0], _STEPS[3])  # what the control does not pass


class _Forged(test_airgap.Carried):
    """An archive with a changed byte, and a list that lacks an image."""

    def verify_and_unpack(self):
        said = super().verify_and_unpack()
        with open(self.archive, "r+b") as file:
            file.seek(self.archive.stat().st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))
        self.verify()
        return said

    def images(self):
        return {name: file for name, file in super().images().items() if "deviceplugin" not in name}


class _FromForged(test_airgap.AirGap):
    CARRIED = _Forged


def left_out(_case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return released.missing() or registry.missing()


def measure(context, case):
    os.environ |= {"BUILD": str(context.build.top), "TRAINER_DATA": str(_DATA)}
    found, said = unmet(test_airgap.AirGap, _STEPS), unmet(_FromForged, _STEPS[:4])
    seen = said if {each.partition(":")[0] for each in said} == {*_CAUGHT} else []
    context.say(f"    {found or 'as designed'}; forged: {said}")
    yield Measured("airgap", case, len(found), f"steps of {len(_STEPS)}", _GOAL, (len(found),),
                   controlled(_GOAL, "a changed byte, and a list without an image", len(seen)),
                   "an archive for two architectures, on a real cluster of two nodes, software GPUs, MPS",
                   {"found": found, "control_saw": said})
