"""Tests what makes the stand-in libraries: the reader of symbols, the lists of names, the generator, the layout."""

import contextlib
import io
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from simgpu.stand_ins import elf, generate, stand_ins, wanted

TOP = Path(__file__).resolve().parents[4]
NAMES = TOP / "simgpu/stand_ins/torch-2.15.0.txt"


class Folder(unittest.TestCase):

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def library(self, name, source, *options):
        """Compiles a shared library. Returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", path, f"-Wl,-soname,{path.name}",
                        *options], input=source, text=True, check=True)
        return path

    def versioned(self, name, node, source, *options):
        """Compiles a shared library whose symbols carry a version."""
        script = self.folder / "script.map"
        script.write_text(f"{node} {{ global: *; }};\n", encoding="utf-8")
        return self.library(name, source, f"-Wl,--version-script={script}", *options)

    def run_main(self, *words):
        """Runs the program. Returns (exit status, standard error)."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            status = stand_ins.main([str(word) for word in words])
        return status, said.getvalue()


class Symbols(Folder):

    def test_versions_belong_to_their_libraries(self):
        self.versioned("libcublas.so.13", "libcublas.so.13", "int cublasCreate_v2(void) { return 0; }")
        user = self.library("user.so", "int cublasCreate_v2(void); int use(void) { return cublasCreate_v2(); }",
                            self.folder / "libcublas.so.13")
        found = {symbol.name: symbol for symbol in elf.symbols(user)}
        self.assertEqual(found["cublasCreate_v2"],
                         elf.Symbol("cublasCreate_v2", "libcublas.so.13", "libcublas.so.13", False, False))
        self.assertTrue(found["use"].defined)
        own = {symbol.name: symbol for symbol in elf.symbols(self.folder / "libcublas.so.13")}
        self.assertEqual((own["cublasCreate_v2"].version, own["cublasCreate_v2"].defined), ("libcublas.so.13", True))

    def test_weak_references_are_told_apart(self):
        user = self.library("user.so",
                            "int __attribute__((weak)) cuInit(int); int use(void) { return cuInit ? 1 : 0; }")
        self.assertTrue(next(symbol for symbol in elf.symbols(user) if symbol.name == "cuInit").weak)
        self.assertEqual(wanted.of_libraries([user]), set())

    def test_what_is_no_library(self):
        whole = self.library("user.so", "int use(void) { return 1; }").read_bytes()
        for data in (b"", b"#!/bin/sh\n", whole[:64], whole[:len(whole) // 2], b"\x7fELF\x01\x01" + whole[6:]):
            path = self.folder / "broken.so"
            path.write_bytes(data)
            with self.assertRaisesRegex(elf.NotALibrary, "broken.so: expected"):
                wanted.of_libraries([path])

    def test_no_damage_to_a_library_brings_another_error(self):
        whole = self.library("user.so", "int puts(const char*); int use(void) { return puts(0); }").read_bytes()
        path = self.folder / "broken.so"
        for place in range(0, len(whole), 41):
            damaged = bytearray(whole)
            damaged[place] ^= 0xFF
            path.write_bytes(damaged)
            with contextlib.suppress(elf.NotALibrary):
                elf.symbols(path)


class Lists(Folder):

    def test_a_list_reads_as_it_was_written(self):
        names = wanted.read(NAMES)
        path = self.folder / "list.txt"
        path.write_text(wanted.text(names), encoding="utf-8")
        self.assertEqual(wanted.read(path), names)
        self.assertGreater(len(names), 700)

    def test_a_bad_line_is_named(self):
        path = self.folder / "list.txt"
        for line in ("libcublas.so.13 cublasCreate_v2", "libcublas.so.13 - cublas-create", "a b c d"):
            path.write_text(f"# names\n{line}\n", encoding="utf-8")
            made = (self.folder / "a.c", self.folder / "a.map")
            status, said = self.run_main("generate", path, "libcublas.so.13", *made)
            self.assertEqual(status, 2)
            self.assertEqual(said, f"stand_ins: {path}:2: expected library, version node or '-', and symbol, "
                                   f"got '{line}'\n")

    def test_a_library_that_is_not_generated_is_named(self):
        status, said = self.run_main("generate", NAMES, "libcuda.so.1", self.folder / "a.c", self.folder / "a.map")
        self.assertEqual(status, 2)
        self.assertIn("library: expected one of libcublas.so.13, ", said)


class Generated(Folder):
    """Builds generated libraries and looks at them from outside."""

    def build(self, library, *objects):
        names = wanted.read(NAMES)
        source, script = self.folder / "made.c", self.folder / "made.map"
        source.write_text(generate.source(library, names), encoding="utf-8")
        script.write_text(generate.version_script(library, names), encoding="utf-8")
        path = self.folder / "out" / library
        path.parent.mkdir(exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror", f"-I{TOP}", source,
                        TOP / "simgpu/stand_ins/refuse.c", *objects, "-o", path, f"-Wl,-soname,{library}",
                        f"-Wl,--version-script={script}"], check=True)
        return path

    def test_every_library_defines_what_is_wanted_of_it_and_nothing_else(self):
        stubs = self.folder / "stubs.c"
        stubs.write_text("int simgpu_cublas_timed(void* h, const char* n) { return h != n; }\n"
                         "int simgpu_cublas_scalar(void* h, const char* n) { return h == n; }\n", encoding="utf-8")
        for library in generate.LIBRARIES:
            path = self.build(library, *([stubs] if library == "libcublas.so.13" else []))
            own = {name for name in wanted.read(NAMES) if name.library == library}
            self.assertEqual(wanted.lacking(own, [path.parent]), [], library)
            exported = {symbol.name for symbol in elf.symbols(path) if symbol.defined and symbol.name != symbol.version}
            self.assertEqual(exported, {name.symbol for name in own}, library)

    def calling(self, library, prototype, call, *objects):
        """Returns what a program prints that loads the library and prints a call's result."""
        path = self.build(library, *objects)
        program = self.folder / "program"
        subprocess.run(["cc", "-x", "c", "-", "-x", "none", path, f"-Wl,-rpath,{path.parent}", "-o", program],
                       text=True, check=True,
                       input=f"#include <stdio.h>\n{prototype}\nint main(void) {{ printf({call}); return 0; }}\n")
        return subprocess.run([program], capture_output=True, text=True, check=True)

    def test_a_refused_call_names_itself(self):
        done = self.calling("libcusparse.so.12", "int cusparseSpMM(void);", '"%d", cusparseSpMM()')
        self.assertEqual(done.stdout, "10")
        self.assertRegex(done.stderr, r"\Asimgpu libcusparse\.so\.12 \[\d+\] refused cusparseSpMM: .*\n\Z")

    def test_texts_and_pointers_are_such(self):
        done = self.calling("libnvrtc.so.13", "const char* nvrtcGetErrorString(int);", '"%s", nvrtcGetErrorString(1)')
        self.assertEqual((done.stdout, done.stderr), ("an error of a stand-in library", ""))
        done = self.calling("libnvshmem_host.so.3", "void* nvshmem_malloc(unsigned long);", '"%p", nvshmem_malloc(8)')
        self.assertEqual(done.stdout, "(nil)")
        self.assertIn("refused nvshmem_malloc", done.stderr)

    def test_a_hand_written_call_takes_the_place_of_a_generated_one(self):
        own = self.folder / "own.c"
        own.write_text('__attribute__((visibility("default"))) int cufftCreate(void) { return 7; }\n', encoding="utf-8")
        done = self.calling("libcufft.so.12", "int cufftCreate(void);", '"%d", cufftCreate()', own)
        self.assertEqual((done.stdout, done.stderr), ("7", ""))

    def test_calls_that_return_numbers_are_told_from_others(self):
        text = generate.source("libcublas.so.13", wanted.read(NAMES))
        kinds = {symbol: kind for kind in ("timed", "scalar") for symbol in
                 (line.split("(")[0].split()[-1] for line in text.splitlines() if f"simgpu_cublas_{kind}(" in line)}
        for symbol in ("cublasSdot_v2", "cublasDznrm2_v2", "cublasIcamax_v2", "cublasScasum_v2", "cublasDotEx",
                       "cublasSrotg_v2"):
            self.assertEqual(kinds[symbol], "scalar", symbol)
        for symbol in ("cublasSaxpy_v2", "cublasStrsm_v2", "cublasDgemv_v2", "cublasSrot_v2", "cublasCgetrfBatched"):
            self.assertEqual(kinds[symbol], "timed", symbol)
        for symbol in ("cublasSetVectorAsync", "cublasGetMatrixAsync", "cublasCreate_v2"):
            self.assertNotIn(symbol, kinds)


class Layout(Folder):
    """Lays stand-ins beside a PyTorch of one library."""

    def setUp(self):
        super().setUp()
        self.made = self.folder / "made"
        for library, node, symbol in (("libcublas.so.13", "libcublas.so.13", "cublasCreate_v2"),
                                      ("libcudnn.so.9", "libcudnn.so.9", "cudnnCreate")):
            self.versioned(f"made/{library}", node, f"int {symbol}(void) {{ return 0; }}")
        self.site = self.folder / "site"
        self.library("site/torch/lib/libtorch_cuda.so",
                     "int cublasCreate_v2(void); int cudnnCreate(void);"
                     "int use(void) { return cublasCreate_v2() + cudnnCreate(); }",
                     self.made / "libcublas.so.13", self.made / "libcudnn.so.9")

    def test_links_lie_where_pytorch_looks(self):
        for _ in range(2):
            self.assertEqual(self.run_main("lay", self.site, self.made), (0, ""))
        for place in ("cu13/lib/libcublas.so.13", "cudnn/lib/libcudnn.so.9"):
            self.assertEqual((self.site / "nvidia" / place).resolve(), (self.made / Path(place).name).resolve())

    def test_a_name_that_the_stand_ins_lack_is_named_and_nothing_is_laid(self):
        self.versioned("made/libcudnn.so.9", "libcudnn.so.9", "int cudnnDestroy(void) { return 0; }")
        for command in ("check", "lay"):
            status, said = self.run_main(command, self.site, self.made)
            self.assertEqual(status, 1)
            self.assertEqual(said, "stand_ins: libcudnn.so.9: PyTorch wants cudnnCreate of version libcudnn.so.9, "
                                   "which the stand-ins lack\n")
        self.assertFalse((self.site / "nvidia").exists())

    def test_a_name_under_another_version_is_lacking(self):
        self.versioned("made/libcudnn.so.9", "libcudnn.so.8", "int cudnnCreate(void) { return 0; }")
        self.assertEqual(self.run_main("check", self.site, self.made)[0], 1)

    def test_a_stand_in_that_is_no_library_is_named(self):
        broken = self.made / "libcudnn.so.9"
        broken.write_bytes(b"#!/bin/sh\n")
        status, said = self.run_main("check", self.site, self.made)
        self.assertEqual(status, 2)
        self.assertIn(f"stand_ins: {broken}: expected a shared library", said)

    def test_nvidias_own_library_is_not_replaced(self):
        own = self.site / "nvidia/cu13/lib/libcublas.so.13"
        own.parent.mkdir(parents=True)
        shutil.copy(self.made / "libcublas.so.13", own)
        status, said = self.run_main("lay", self.site, self.made)
        self.assertEqual(status, 2)
        self.assertIn(f"{own}: expected no file or a link", said)
        self.assertFalse(own.is_symlink())

    def test_a_folder_without_pytorch_is_named(self):
        status, said = self.run_main("lay", self.folder / "nothing", self.made)
        self.assertEqual(status, 2)
        self.assertIn("expected a folder with an installed PyTorch", said)


if __name__ == "__main__":
    unittest.main()
