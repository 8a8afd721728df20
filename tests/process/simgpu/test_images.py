"""Tests images that NVIDIA's compiler makes of images.cu, in each form and packing, on the software GPU.

It is called with the directories of the probe programs and of the libraries, with nvcc, and with a C++ compiler for it.
"""

import os
import subprocess
import sys
import tempfile
import unittest

from probes import ProcessTest

COMPILER = sys.argv.pop()
NVCC = sys.argv.pop()
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images.cu")

# The parameters that the source declares: offset and size of each.
EXPECTED = {
    "plain": "0+8 8+4 12+12 24+8",
    "_Z5typedIfEvPT_S0_": "0+8 8+4",
    "_Z5typedIcEvPT_S0_": "0+8 8+1",
    "large": "0+20000 20000+8 20008+2",
    "_Z4nonev": "",
}
PACKINGS = ("none", "speed", "balance", "size")


class Images(ProcessTest):
    @classmethod
    def setUpClass(cls):
        cls.images = tempfile.TemporaryDirectory(prefix="simgpu-images-")
        cls.addClassCleanup(cls.images.cleanup)
        cls.cubin, cls.ptx = (os.path.join(cls.images.name, name) for name in ("images.cubin", "images.ptx"))
        subprocess.run([NVCC, "-ccbin", COMPILER, "-arch=sm_90", "-cubin", "-o", cls.cubin, SOURCE], check=True)
        subprocess.run([NVCC, "-ccbin", COMPILER, "-arch=compute_75", "-ptx", "-o", cls.ptx, SOURCE], check=True)

    def fatbin(self, packing, *kinds):
        path = os.path.join(self.images.name, f"{packing}-{'-'.join(kinds)}.fatbin")
        files = {"elf": f"--image3=kind=elf,sm=90,file={self.cubin}", "ptx": f"--image3=kind=ptx,sm=75,file={self.ptx}"}
        subprocess.run([os.path.join(os.path.dirname(NVCC), "fatbinary"), "-64", f"--create={path}",
                        f"--compress-mode={packing}", *(files[kind] for kind in kinds)], check=True)
        return path

    def test_each_form_names_the_kernels_of_the_source(self):
        files = [self.cubin, self.ptx]
        files += [self.fatbin(packing, *kinds) for packing in PACKINGS for kinds in (("elf", "ptx"), ("ptx",))]
        found = {}
        for line in self.run_probe("simgpu_probe_image", "list", *files).splitlines():
            name, _, parameters = line.partition(" ")
            if name == "file":
                kernels = found[parameters] = {}
            else:
                kernels[name] = parameters
        self.assertEqual(sorted(found), sorted(files))
        for file, kernels in found.items():
            self.assertEqual(kernels, EXPECTED, file)

    def test_the_names_are_those_that_the_symbol_table_has(self):
        table = subprocess.run(["readelf", "-s", "-W", self.cubin], check=True, capture_output=True, text=True).stdout
        names = {line.split()[-1] for line in table.splitlines() if " FUNC " in line and "<other>: 10" in line}
        self.assertEqual(names, set(EXPECTED))

    def test_kernels_variables_and_linker(self):
        for file in self.cubin, self.fatbin("size", "elf", "ptx"):
            with self.subTest(file=os.path.basename(file)):
                process = self.start("simgpu_probe_image", "run", file)
                out, err = self.finish(process)
                self.assertEqual(out, "all is well\n")
                for line in ("simgpu: cuLinkAddData: not implemented: expected one image, got a second one",
                             "simgpu: cuTensorMapEncodeTiled: not implemented: ",
                             "simgpu: the effect of kernel '_ZN2at6native29vectorized"):
                    self.assertIn(line, err)

    def test_an_image_that_is_cut_off_is_refused_with_a_line(self):
        with open(self.fatbin("size", "elf"), "rb") as whole:
            content = whole.read()
        cut = os.path.join(self.images.name, "cut.fatbin")
        with open(cut, "wb") as file:
            file.write(content[:-100])
        _, err = self.finish(self.start("simgpu_probe_image", "run", cut), code=1)
        self.assertIn(f"simgpu: module image: fat binary: expected {len(content) - 16} bytes, as its header says, got",
                      err)
        self.assertIn("CUDA_ERROR_INVALID_IMAGE", err)

    def test_rules_say_what_kernels_cost(self):
        config = os.path.join(self.directory.name, "machine.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"state: {self.directory.name}/other\nkernels:\n  - {{name: plain, ns: 1, ns_per_wave: 0}}\n"
                       "nodes: [{gpus: 1}]\n")
        # The probe wants 20 ms for its 20001 waves. This rule makes them shorter, so the probe complains.
        _, err = self.finish(self.start("simgpu_probe_image", "run", self.cubin, SIMGPU_CONFIG=config), code=1)
        self.assertIn("not so: waves >= 20.0F", err)


if __name__ == "__main__":
    unittest.main()
