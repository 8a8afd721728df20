"""Tests that no process of a job stays behind: those that left the session of their parent end, too. A pipe that all
of them keep open tells when the last one has ended."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from testing.frameworks import family, software_gpu as gpu

# A shell that starts a process in a session of its own, and says its ID. `exec` makes it the process itself.
_SHELL = ("sh", "-c", "setsid sh -c 'echo $$; exec sleep infinity' & wait")
_PROGRAM = gpu.TOP / "testing" / "frameworks" / "programs" / "waits.py"


def _start(command, **popen):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, **popen)


class Family(unittest.TestCase):

    def test_the_status_is_that_of_the_command(self):
        for command, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 1)):
            done = subprocess.run(family.within(["sh", "-c", command]), check=False)
            self.assertEqual(done.returncode, status, command)

    def test_what_is_left_ends_with_the_command(self):
        done = subprocess.run(family.within(["sh", "-c", "setsid sleep infinity & exit 3"]), check=False,
                              stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (3, b""))

    def test_what_is_left_ends_with_sigterm(self):
        with _start(family.within(_SHELL)) as process:
            self.assertGreater(int(process.stdout.readline()), 0)
            process.terminate()
            self.assertEqual(process.stdout.read(), b"")
            self.assertEqual(process.wait(), 1)

    def test_what_is_left_ends_when_the_process_that_started_it_is_killed(self):
        starter = ("import subprocess; from testing.frameworks import family; "
                   f"subprocess.run(family.within({_SHELL}))")
        with _start([sys.executable, "-B", "-c", starter], cwd=gpu.TOP) as process:
            self.assertGreater(int(process.stdout.readline()), 0)
            process.kill()
            self.assertEqual(process.stdout.read(), b"")

    def test_without_it_something_stays_behind(self):
        with _start(_SHELL, start_new_session=True) as process:
            left = int(process.stdout.readline())
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.kill(left, signal.SIGKILL)  # ProcessLookupError if it had ended
            self.assertEqual(process.stdout.read(), b"")


class Ranks(unittest.TestCase):
    """Runs ranks that end only when they are ended."""

    def setUp(self):
        gpu.require(self)
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.pipe = self.directory / "ranks"
        os.mkfifo(self.pipe)

    def assert_two_ranks_end(self, end):
        with open(self.pipe, "rb", buffering=0) as ranks:  # waits until the first one opens it
            said = b""
            while said.count(b"\n") < 2:
                said += ranks.read(64)
            end()
            while ranks.read(64):
                pass

    def test_ranks_end_with_their_machine(self):
        with gpu.Machine(self.directory) as machine:
            machine.start("job", _PROGRAM, self.pipe)
            self.assert_two_ranks_end(machine.close)

    def test_ranks_end_when_the_test_is_killed(self):
        runs = ("from testing.frameworks import software_gpu as gpu; import sys; "
                "gpu.Machine(sys.argv[1]).start('job', *sys.argv[2:]).wait()")
        with subprocess.Popen([sys.executable, "-B", "-c", runs, self.directory, _PROGRAM, self.pipe],
                              cwd=gpu.TOP) as process:
            self.assert_two_ranks_end(process.kill)


if __name__ == "__main__":
    unittest.main()
