"""Tests what becomes of processes that use one software GPU beside others: memory, contexts, faults of MPS.

It is called with the directories of the probe programs and of the libraries.
"""

import unittest

from probes import ProcessTest

_OUT_OF_MEMORY = 2
_NOT_SUPPORTED = 801


class SharedTest(ProcessTest):
    def numbers(self, *arguments, **options):
        return [int(word) for word in self.run_probe("simgpu_probe_shared", *arguments, **options).split()]


class SharedMemory(SharedTest):
    def test_imports_may_fail_from_some_moment_on(self):
        for fault, results in (("", [0, 0, 0]), ("import_fails", [_NOT_SUPPORTED] * 3),
                               ("import_fails:1", [0, _NOT_SUPPORTED, _NOT_SUPPORTED])):
            with self.subTest(fault=fault):
                self.assertEqual(self.numbers("imports", 3, SIMGPU_FAULT=fault), results)

    def test_a_process_may_get_no_memory_of_a_gpu(self):
        self.assertEqual(self.numbers("allocations"), [0, 0, 0, 0])
        self.assertEqual(self.numbers("allocations", SIMGPU_FAULT="no_memory"), [_OUT_OF_MEMORY] * 3 + [0])

    def test_memory_of_a_descriptor_outlives_its_exporter_and_that_of_a_handle_does_not(self):
        """The memory that is freed has no content any more, and no handle opens what was freed or whose process is
        gone."""
        self.assertEqual(self.numbers("outlive"), [77, 78, 79, 0, 1, 77, 1])


if __name__ == "__main__":
    unittest.main()
