"""Tests what the first kernels of a program with the library are said to be: sound, ended, slow, or different."""

import signal
import sys
import unittest

from benchmarks.gpu import children, exit_parts
from benchmarks.gpu.children import Ended, Late

_PLAIN = {"cublas": "a1", "triton": "b2"}


def lines(hooked):
    return {line.figure: line for line in exit_parts.lines_of_smoke("pytorch", _PLAIN, hooked)}


class Smoke(unittest.TestCase):

    def values(self, hooked):
        return {name: line.value for name, line in lines(hooked).items()}

    def test_a_sound_program(self):
        found = lines(dict(_PLAIN))
        self.assertTrue(all(line.ok for line in found.values()))
        self.assertEqual(set(found), {"gpu_smoke", "gpu_smoke_same"})

    def test_an_end_is_a_crash_with_its_signal(self):
        self.assertEqual(self.values(Ended("python3: ended with -11", signal.SIGSEGV)),
                         {"gpu_smoke": 0, "gpu_smoke_same": None})
        found = lines(Ended("python3: ended with -11", signal.SIGSEGV))
        self.assertEqual(found["gpu_smoke"].remarks["signal"], signal.SIGSEGV)
        self.assertIn("ended with -11", found["gpu_smoke_same"].remarks["reason"])

    def test_a_slow_program_is_no_crash(self):
        self.assertEqual(self.values(Late("python3: no end after 40 s")), {"gpu_smoke": None, "gpu_smoke_same": None})
        for line in lines(Late("python3: no end after 40 s")).values():
            self.assertTrue(line.remarks["reason"].startswith(exit_parts.SLOW))

    def test_other_results_are_no_crash_and_are_named(self):
        found = lines(_PLAIN | {"triton": "b3"})
        self.assertEqual((found["gpu_smoke"].value, found["gpu_smoke_same"].value), (1, 0))
        self.assertEqual(found["gpu_smoke_same"].remarks["differ"], ["triton"])


class Answers(unittest.TestCase):

    def answer(self, program, patience_s=60):
        return children.answer([sys.executable, "-c", program], None, patience_s)

    def test_how_a_program_ended_is_kept_apart(self):
        self.assertEqual(self.answer("print('{}')"), {})
        with self.assertRaises(Ended) as ended:
            self.answer("import os; os.kill(os.getpid(), 11)")
        self.assertEqual(ended.exception.signal, signal.SIGSEGV)
        with self.assertRaises(Ended) as failed:
            self.answer("raise SystemExit(3)")
        self.assertEqual(failed.exception.signal, 0)
        with self.assertRaises(Late):
            self.answer("import time; time.sleep(1000)", 0.2)


if __name__ == "__main__":
    unittest.main()
