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

    def kernels(self):
        """Returns {name: instructions} of the image."""
        text = _IMAGE.read_text(encoding="ascii")
        parts = re.split(r"\.visible \.entry (\w+)", text)[1:]
        return dict(zip(parts[::2], parts[1::2]))

    def test_it_has_all_kernels(self):
        self.assertEqual(list(self.kernels()), [f"crossover_shrink_{name}" for name in (
            "narrow", "widen", "encode", "sum", "decode", "error", "encode_planned", "sum_planned", "decode_planned",
            "statistics")])

    def test_those_of_bf16_have_no_arithmetic_of_floats(self):
        for name in ("narrow", "widen"):
            self.assertEqual(re.findall(r"\S+\.f(?:16|32|64)\b", self.kernels()[f"crossover_shrink_{name}"]), [])

    def test_those_of_exchanges_have_the_arithmetic_of_ieee(self):
        """Without .rn an assembler may join a multiplication with an addition."""
        for name, division in (("encode", "div.rn.f32"), ("sum", "div.rn.f32"), ("decode", "div.rn.f32"),
                               ("error", "div.rn.f32"), ("encode_planned", "div.rn.f32"),
                               ("sum_planned", "div.rn.f32"), ("decode_planned", "div.rn.f32"),
                               ("statistics", "div.rn.f64")):
            said = self.kernels()[f"crossover_shrink_{name}"]
            arithmetic = re.findall(r"\b((?:add|sub|mul|div|fma|mad)\S*\.f(?:32|64))\b", said)
            self.assertIn(division, arithmetic)
            self.assertEqual("mul.rn.f64" in arithmetic, name in ("error", "statistics"))
            self.assertEqual({word for word in arithmetic
                              if not re.fullmatch(r"(add|sub|mul|div)\.rn\.f(32|64)", word)}, set())
            self.assertEqual(re.findall(r"\S*(?:\.ftz|\.local|\bcall)\S*", said), [])

    def test_the_one_that_measures_writes_its_mark_last(self):
        """The host reads the sums where it sees the mark. Nothing but sums and mark is written outside the block."""
        said = self.kernels()["crossover_shrink_error"]
        written = re.findall(r"\b((?:st|atom|red)\.(?:volatile\.)?global\S*|membar\.\w+)", said)
        self.assertEqual(written, ["st.global.f64"] * 3 + ["st.global.u64", "membar.sys", "st.volatile.global.u64"])


if __name__ == "__main__":
    unittest.main()
