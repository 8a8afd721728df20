"""Tests NCCL in a file that is not named libnccl.so: within a framework's library, or renamed beside it."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from tests.process.sidecar.test_sidecar import BIN, LIBRARY, Machine, run, run_beside, said_by_library

_WAYS = ("call_group_start", "call_group_end", "use_group_start", "use_group_end", "look_up_group_start")
_ITERATIONS = 80
_GANG, _DISABLED = {"CROSSOVER_GANG": "a"}, {"CROSSOVER_GANG": "a", "CROSSOVER_DISABLE": "1"}


def _used(program, *libraries, preload=(LIBRARY,), **environment):
    """Returns {question: number} from the program. The number tells which function answered."""
    done = run([os.environ[program], *(os.environ.get(library, library) for library in libraries)],
               LD_PRELOAD=":".join(preload), **environment)
    return {question: int(answer) for question, answer in map(str.split, done.stdout.splitlines())}


def _expected(library, start, end):
    """Returns the answers expected of a library whose two functions give these numbers."""
    return {f"{library}-{way}": end if "end" in way else start for way in _WAYS}


class Carried(unittest.TestCase):
    """Each library's calls reach its own NCCL, whether the process is part of a gang, disabled, or neither."""

    def assert_reaches(self, libraries, *numbers, ways=_WAYS, **options):
        """Asserts that each of the libraries reaches its own NCCL, in these ways."""
        expected = {}
        for i, (start, end) in enumerate(numbers):
            expected.update({**_expected(i, start, end), **_expected(f"again-{i}", start, end)})
        expected = {question: number for question, number in expected.items() if question.rsplit("-", 1)[1] in ways}
        for gang in ({}, _GANG, _DISABLED):
            used = _used("CARRIED", *libraries, **options, **gang)
            self.assertEqual({question: used[question] for question in expected}, expected, gang)

    def test_within_a_library_that_is_opened_locally(self):
        self.assertEqual(_used("CARRIED", "CARRYING", preload=()),
                         {**_expected(0, 40, 42), **_expected("again-0", 40, 42), "default": -1, "main": -1})
        self.assert_reaches(["CARRYING"], (41, 42))

    def test_others_find_none_of_it(self):
        for gang in ({}, _GANG, _DISABLED):
            used = _used("CARRIED", "CARRYING", **gang)
            self.assertEqual((used["default"], used["main"]), (-1, -1), gang)

    def test_a_library_that_knows_nothing_but_libnccl_fails_all_of_it(self):
        used = _used("CARRIED", "CARRYING", preload=(str(BIN.parent / "lib/libcrossover_by_file_name.so"),))
        self.assertEqual((used["0-call_group_start"], used["0-use_group_end"]), (2, 2))

    def test_without_profiling_twins(self):
        self.assert_reaches(["STUB"], (240, 242))

    def test_in_a_renamed_file_beside_it(self):
        self.assert_reaches(["RENAMED"], (341, 342))

    def test_two_of_them(self):
        # A library may jump to NCCL. The call then has no return address in that library, and we cannot tell which one
        # it was.
        ways = ("use_group_start", "use_group_end")
        self.assert_reaches(["CARRYING", "OTHER_CARRYING"], (41, 42), (141, 142), ways=ways)
        self.assert_reaches(["RENAMED", "OTHER_RENAMED"], (341, 342), (441, 442), ways=ways)
        self.assert_reaches(["STUB", "OTHER_RENAMED", "CARRYING", "RENAMED", "OTHER_CARRYING"],
                            (240, 242), (441, 442), (41, 42), (341, 342), (141, 142), ways=ways)

    def test_beside_one_that_is_loaded_as_a_library(self):
        ways = ("use_group_start", "use_group_end")
        for gang in ({}, _GANG, _DISABLED):
            used = _used("CARRIED", "OTHER_CARRYING", "NCCL_USER", LD_LIBRARY_PATH=os.environ["FAKE_NCCL"], **gang)
            self.assertEqual([used[f"{i}-{way}"] for i in (0, 1) for way in ways], [141, 142, 41, 42])

    def test_within_a_library_that_the_program_is_linked_against(self):
        expected = {**_expected(0, 41, 42), "own": 41, "own-call": 41, "default": 41, "main": 41}
        for gang in ({}, _GANG, _DISABLED):
            used = _used("CARRIED_LINKED", **gang)
            # Without turns the function itself is handed out, as it would be without the library.
            self.assertIn(used.pop("main"), (40, 41))
            self.assertEqual(used, {question: expected[question] for question in used}, gang)

    def test_the_library_loaded_twice_is_never_taken_for_an_nccl(self):
        with tempfile.TemporaryDirectory() as directory:
            second = shutil.copy(LIBRARY, Path(directory) / "libcrossover.so")
            for libraries, numbers in ((["STUB"], (240, 242)), (["CARRYING"], (41, 42))):
                self.assert_reaches(libraries, numbers, preload=(LIBRARY, str(second)))

    def test_the_portable_library(self):
        library = Path(os.environ["PORTABLE"]) / "x86_64/libcrossover.so"
        if not library.exists():
            self.skipTest("crossover_portable was not built")
        self.assert_reaches(["CARRYING"], (41, 42), preload=(str(library),))


class CarriedTurns(unittest.TestCase):
    """Runs trainers in a library that has NCCL within, opened by the program or linked, with the real arbiter. They are
    recognised by their calls, as a trainer that loads its NCCL. Losses are those of the program without the library."""

    PROGRAMS = ("sidecar_trainer_opened", "sidecar_trainer_linked")

    def beside(self, program, other="trainer", options=(), **extra):
        """Runs the program beside another job. Returns (its turns, the library's lines in it)."""
        turns, said, said_by_other = run_beside(self, _ITERATIONS, options, programs=(program, other), **extra)
        self.assertEqual(said_by_other, "")
        return turns, said

    def assert_takes_turns(self, program, **options):
        turns, said = self.beside(program, **options)
        self.assertEqual(said, "")
        self.assertGreater(turns, 40, "turns on both GPUs")

    def test_two_such_jobs_take_turns(self):
        for program in self.PROGRAMS:
            with self.subTest(program=program):
                self.assert_takes_turns(program, other=program)

    def test_beside_a_job_that_loads_its_nccl(self):
        for program in self.PROGRAMS:
            with self.subTest(program=program):
                self.assert_takes_turns(program, options=("--variant=broadcast_buffers", "--nccl=split"))

    def test_by_their_calls(self):
        """The library does not look at kernels here, so it works even where kernels are all alike."""
        calls_only = str(BIN.parent / "lib/libcrossover_calls_only.so")
        for program in self.PROGRAMS:
            self.assert_takes_turns(program, library=calls_only)
        turns, said = self.beside("sidecar_trainer_opened", options=("--variant=one_stream",))
        self.assertIn("compute waits for collectives inside its turns", said)
        self.assertEqual(turns, 0)

    def test_non_blocking_communicators_are_known_as_such(self):
        _, said = self.beside("sidecar_trainer_opened", options=("--nccl=nonblocking",))
        self.assertIn("a communicator is non-blocking", said)

    def losses(self, machine, job, program, **start):
        summary, said = machine.finish(job, machine.start(job, program=program, options=("--iterations=10",), **start))
        return summary["losses_digest"], said_by_library(said)

    def test_without_a_gang_and_switched_off_it_trains_as_ever(self):
        machine = Machine(self, arbiter=False)
        for program in self.PROGRAMS:
            plain = self.losses(machine, "s", program, library=None)
            self.assertEqual(self.losses(machine, "g", program, library=None, LD_PRELOAD=LIBRARY), plain)
            self.assertEqual(self.losses(machine, "d", program, CROSSOVER_DISABLE="1"), plain)

    def test_a_library_that_knows_nothing_but_libnccl_ends_the_job(self):
        machine = Machine(self, arbiter=False)
        library = str(BIN.parent / "lib/libcrossover_by_file_name.so")
        for environment in ({"LD_PRELOAD": library}, {"library": library, "CROSSOVER_DISABLE": "1"}):
            ranks = machine.start("a", program=self.PROGRAMS[0], options=("--iterations=10",),
                                  **{"library": None, **environment})
            for rank in ranks:
                self.assertIn("nccl", rank.communicate(timeout=60)[1])
                self.assertNotEqual(rank.returncode, 0)


if __name__ == "__main__":
    unittest.main()
