"""Tests the real libcudart, libnccl, libcublas and libcublasLt over the software GPU's driver: what they look up and
keep."""

import unittest

from tests.frameworks import under

_TOOLKIT = "nvidia/cu13/lib"
# {library: functions of it that make it look up the driver's}
_LIBRARIES = {f"{_TOOLKIT}/libcudart.so.13": ("cudaGetDeviceCount", "cudaFree"),
              "nvidia/nccl/lib/libnccl.so.2": ("ncclGetVersion", "ncclCommInitAll"),
              f"{_TOOLKIT}/libcublas.so.13": ("cublasCreate_v2",),
              f"{_TOOLKIT}/libcublasLt.so.13": ("cublasLtCreate",)}
_LEAST = 100  # functions of the driver that each of them keeps


class Pointers(unittest.TestCase):

    def setUp(self):
        under.require(self)
        if not (under.SOFTWARE_GPU / "libcuda.so.1").exists():
            self.fail(f"no libcuda.so.1 in {under.SOFTWARE_GPU}: build the software GPU")

    def kept(self, library, functions, preloaded):
        """Returns {place in the library's data: (symbol, the library that it lies in)}."""
        path = f"{under.SOFTWARE_GPU}:{under.SITE}/{_TOOLKIT}"
        status, said, errors = under.run(
            under.program("pointers.py", under.SITE / library, ",".join(under.hooked_symbols()), *functions), preloaded,
            LD_LIBRARY_PATH=path, SIMGPU_MACHINE="1x1")
        self.assertEqual(status, 0, errors)
        return {place: (symbol, owner) for place, symbol, owner in (line.split() for line in said.splitlines())}

    def test_all_of_our_table_reach_us_with_the_right_abi_and_nothing_else_does(self):
        ours = set(under.hooked_symbols())
        for library, functions in _LIBRARIES.items():
            with self.subTest(library=library):
                plain, hooked = (self.kept(library, functions, preloaded) for preloaded in (False, True))
                self.assertGreater(len(plain), _LEAST)
                self.assertTrue(ours & {symbol for symbol, _ in plain.values()})
                for place, (symbol, owner) in plain.items():
                    self.assertEqual(owner, "libcuda")
                    self.assertEqual(hooked[place], (symbol, "libcrossover" if symbol in ours else "libcuda"), place)


if __name__ == "__main__":
    unittest.main()
