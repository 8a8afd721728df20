"""Tests that the PTX of the kernels is what clang makes of their source. Nothing runs it: it has run on no GPU."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[4]
_SOURCE, _IMAGE = _ROOT / "shrink/kernels/kernels.cu", _ROOT / "shrink/kernels/kernels.ptx"
COMMAND = ("clang++", "-std=c++20", "-O2", "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
           "--cuda-gpu-arch=sm_60", "-ffreestanding", "-nostdinc++", "-nostdlibinc", "-ffp-contract=off", "-Wall",
           "-Wextra", "-Werror", "-Wno-unknown-cuda-version")


def compiled():
    return subprocess.run([*COMMAND, f"-I{_ROOT}", "-S", "-o", "-", _SOURCE], check=True, capture_output=True,
                          text=True).stdout


def _is_version_14():
    if shutil.which("clang++") is None:
        return False
    said = subprocess.run(["clang++", "--version"], capture_output=True, text=True, check=True).stdout
    return "version 14." in said


class Image(unittest.TestCase):
    @unittest.skipUnless(_is_version_14(), "the image is that of clang 14")
    def test_it_is_that_of_the_source(self):
        self.assertEqual(_IMAGE.read_text(encoding="ascii"), compiled(),
                         f"{' '.join(COMMAND)} -I. -S -o {_IMAGE.relative_to(_ROOT)} {_SOURCE.relative_to(_ROOT)}")

    def test_it_has_both_kernels_and_no_arithmetic_of_floats(self):
        text = _IMAGE.read_text(encoding="ascii")
        self.assertEqual(re.findall(r"\.visible \.entry (\w+)", text),
                         ["crossover_shrink_narrow", "crossover_shrink_widen"])
        self.assertEqual(re.findall(r"\S+\.f(?:16|32|64)\b", text), [])


if __name__ == "__main__":
    unittest.main()
