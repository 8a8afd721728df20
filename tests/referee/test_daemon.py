"""Shows the node daemon's eyes NVIDIA's own control daemons of MPS, and ours in their place (needs root)."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from benchmarks.commands import Build
from tests.referee import binaries
from tests.referee.control_daemon import DRIVERS, PROGRAM, ControlDaemon

BUILD = Build(Path(os.environ.get("BUILD", "build/dev")).resolve())
_FIRST_WITH_ALL_USERS = 555
_FIRST_WITH_STATUS = 550


class Daemon(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def programs(self):
        """Yields (name, major version, ControlDaemon) of each of NVIDIA's programs, and of ours in their place."""
        found, complaints = binaries.find()
        self.assertEqual(complaints, "")
        choices = [(str(binary), binary.major, binary.control, {}) for binary in found
                   if binary.package == "nvidia-cuda-mps"]
        choices += [(f"ours as {driver}", driver, BUILD.program(PROGRAM), {"SIMGPU_MPS_DRIVER": str(driver)})
                    for driver in DRIVERS]
        for number, (name, major, program, environment) in enumerate(choices):
            place = self.directory / str(number)
            place.mkdir()
            yield name, major, ControlDaemon(program, place, **environment)

    def test_it_sees_whether_one_runs(self):
        for name, _, daemon in self.programs():
            with self.subTest(name), self.eyes(daemon) as ask:
                self.assertEqual(ask("look"), "none")
                with daemon.running():
                    self.assertEqual(ask("look"), "one user, protocol 2")
                    self.assertEqual(ask("servers"), "0 ")
                    daemon.run(lines="quit\n")
                    daemon.await_end()
                self.assertEqual(ask("look"), "none")
                self.assertEqual(ask("servers"), "no answer")
                with daemon.running() as process:
                    self.assertEqual(ask("look"), "one user, protocol 2", "another one came")
                    process.kill()
                    process.wait()
                    self.assertEqual(ask("look"), "none")

    def test_a_status_that_is_not_known_says_nothing(self):
        for name, major, daemon in self.programs():
            with self.subTest(name), self.eyes(daemon) as ask, daemon.running():
                self.assertEqual(ask("status 1"), "other" if major >= _FIRST_WITH_STATUS else "no such command")

    def test_it_sees_that_all_users_are_served(self):
        for name, major, daemon in self.programs():
            if major < _FIRST_WITH_ALL_USERS:
                continue
            with self.subTest(name), self.eyes(daemon) as ask, daemon.running("-multiuser-server"):
                self.assertEqual(ask("look"), "all users, protocol 2")

    def eyes(self, daemon):
        return _Eyes(daemon)


class _Eyes:
    """Runs the node daemon's eyes for as long as its block lasts."""

    def __init__(self, daemon):
        command = [str(BUILD.program("referee_mps_control")), str(daemon.pipe), str(daemon.program)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self._ask

    def __exit__(self, *exc):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _ask(self, question):
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().rstrip("\n")


if __name__ == "__main__":
    unittest.main()
