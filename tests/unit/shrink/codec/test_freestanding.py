"""Tests that the codecs' headers compile without any library, for this machine and for a GPU, and that the GPU's
instructions have the arithmetic that they need."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[4]
# This program uses what a kernel of the codecs would use. Nothing of it is in the product.
_PROBE = """
#include "shrink/codec/bf16.h"
#include "shrink/codec/q8.h"
namespace shrink = crossover::shrink;
extern "C" unsigned probe(const float* values, unsigned char* bytes, float* decoded, unsigned short* narrow) {
  shrink::Narrow(values, 999, narrow);
  shrink::Widen(narrow, 999, decoded);
  const unsigned long size = shrink::EncodedBytes(999, 5, 128);
  const bool encoded = shrink::Encode(values, 999, {5, 128}, {1, 2, 3}, bytes, size);
  return encoded && shrink::DecodeAdd(bytes, size, 999, {5, 128}, decoded);
}
"""
_FLAGS = ("-std=c++20", "-O2", "-ffreestanding", "-nostdinc++", "-nostdlibinc", "-fno-exceptions", "-fno-rtti", "-Wall",
          "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off")


@unittest.skipUnless(shutil.which("clang++"), "needs clang++")
class Freestanding(unittest.TestCase):
    def compiled(self, *flags):
        """Returns what the compiler writes for the probe, as assembler."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.cc")
            source.write_text(_PROBE, encoding="utf-8")
            return subprocess.run(["clang++", *_FLAGS, *flags, f"-I{_ROOT}", "-S", "-o", "-", source], check=True,
                                  capture_output=True, text=True).stdout

    def test_it_calls_nothing(self):
        assembler = self.compiled()
        self.assertIn("probe:", assembler)
        self.assertEqual(re.findall(r"^\s*call\w*\s+(?!_ZN9crossover6shrink)\S+", assembler, re.MULTILINE), [])

    def assert_arithmetic(self, assembler):
        self.assertIn("div.rn.f32", assembler)
        self.assertIn("mul.rn.f32", assembler)
        self.assertEqual(re.findall(r"\b(?:fma|mad|div\.full|div\.approx)\S*f32|\S*\.ftz\S*", assembler), [])

    def test_for_a_gpu_its_arithmetic_is_that_of_ieee(self):
        for flags in (("--target=nvptx64-nvidia-cuda", "-march=sm_60"),
                      ("-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_60",
                       "-Dprobe=__attribute__((device))probe")):
            with self.subTest(flags=flags):
                self.assert_arithmetic(self.compiled(*flags))

    def test_with_contraction_a_multiplication_and_an_addition_are_joined(self):
        """This is the control."""
        assembler = self.compiled("--target=nvptx64-nvidia-cuda", "-march=sm_60", "-ffp-contract=fast")
        self.assertRegex(assembler, r"fma\.rn\.f32")


if __name__ == "__main__":
    unittest.main()
