"""Tries mutations in a copy of the tree. It builds the tests that contain a part of the file, and runs them until one
fails: the nearest to the file first, and of those the shortest."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from testing.mutants.operators import mutated
from testing.mutants.programs import Programs

_FIRST_LIMIT_S = 300
_LEAST_LIMIT_S, _TIMES_AS_LONG = 30, 8
_TIMES_BUSY = 3  # so often the machine may be busy when a test seems to hang
# Searches use small bounds. The case that takes a minute and the controls of the referees are left out.
_ENVIRONMENT = {"GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1", "CROSSOVER_SEEDS": "400"}
_LEFT_OUT = ("Explorer.OneOfThreeIsKilledAndItsLastWriteComesLate", "All/GangPlantedTest.*", "All/PlantedTest.*",
             *(f"All/InterleavingsTest.KeepAllRules/{shard}" for shard in range(1, 10)))


@dataclass(frozen=True)
class Outcome:
    """Says how a trial ended. `end` is killed or timeout (`by` a test), survived, or refused (by the compiler)."""

    end: str
    by: str = ""

    @property
    def counts(self):
        return self.end != "refused"


class Failed(Exception):
    """This is raised if the tree as it is does not build, or one of its tests fails."""


class Trials:
    """Runs trials in `tree`, a copy, which it changes. `without` are test suites (a GoogleTest's first name) that are
    not run."""

    def __init__(self, tree, folders, jobs=2, without=()):
        self._tree, self._build, self._jobs = Path(tree), Path(tree, "build/dev"), jobs
        self._without = without
        self._environment = {**os.environ, **_ENVIRONMENT, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
        self._seconds = {}
        self._configure()
        self.programs = Programs(self._tree, self._build)
        tests = self.programs.linked_with(folders)
        if not tests:
            raise Failed(f"{', '.join(folders)}: no unit test is linked with them")
        said = self._make(tests)
        if said:
            raise Failed(f"the tree does not build as it is: {said[-2000:]}")

    def try_one(self, mutation):
        """Tries one mutation and returns its outcome. The copy is afterwards as it was before."""
        file = self._tree / mutation.file
        source = file.read_text(encoding="utf-8")
        near = self.programs.of(mutation.file)
        tests = sorted(near, key=lambda test: (-near[test], self._usual_s(test), test))
        for _ in range(_TIMES_BUSY):
            file.write_text(mutated(source, mutation), encoding="utf-8")
            try:
                end, test = self._judged(tests)
            finally:
                file.write_text(source, encoding="utf-8")
            if end != "timeout" or not self._is_busy(test):
                return Outcome(end, Path(test).name)
        raise Failed(f"{test}: the machine is busy: also in the tree as it is, it takes more than half of its limit")

    def _judged(self, tests):
        """Returns (how the trial ends, the test that ended it)."""
        for test in tests:
            if self._make([test], CCACHE_READONLY="1"):
                return "refused", ""
            end = self._end(test, self._limit(test))
            if end != "passed":
                return end, test
        return "survived", ""

    def _is_busy(self, test):
        """Tells whether a test takes at least half of its limit in the tree as it is. Its usual time is measured
        again."""
        limit_s = self._limit(test)
        del self._seconds[test]
        return self._usual_s(test) > limit_s / 2

    def _limit(self, test):
        return max(_LEAST_LIMIT_S, _TIMES_AS_LONG * self._usual_s(test))

    def _usual_s(self, test):
        """Returns how long a test takes in the tree as it is, if it passes. It must be called before a file is
        changed."""
        if test not in self._seconds:
            said = self._make([test])
            began = time.monotonic()
            end = "" if said else self._end(test, _FIRST_LIMIT_S)
            if end != "passed":
                raise Failed(f"{test}: of the tree as it is: expected that it builds and passes, got "
                             f"{end or said[-2000:]}")
            self._seconds[test] = time.monotonic() - began
        return self._seconds[test]

    def _end(self, test, limit_s):
        left_out = ":".join([*_LEFT_OUT, *(f"{suite}.*" for suite in self._without),
                             *(f"*/{suite}.*" for suite in self._without)])
        folder = next(place for place in (self._build / self.programs.tests[test], self._build) if place.is_dir())
        running = subprocess.Popen([self._build / test, f"--gtest_filter=-{left_out}"], cwd=folder,
                                   env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return "passed" if running.wait(limit_s) == 0 else "killed"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            _end_session(running)

    def _configure(self):
        done = subprocess.run(["cmake", "--preset", "dev"], cwd=self._tree, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"cmake: {(done.stdout + done.stderr)[-2000:]}")

    def _make(self, targets, **environment):
        """Builds the targets. Returns the compiler's output if it fails, else ""."""
        done = subprocess.run(["nice", "ninja", "-C", self._build, f"-j{self._jobs}", *targets], capture_output=True,
                              env={**self._environment, **environment}, text=True, check=False)
        return "" if done.returncode == 0 else (done.stdout + done.stderr) or "ninja failed"


def _end_session(process):
    """Kills what is left of a process and of the processes that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
