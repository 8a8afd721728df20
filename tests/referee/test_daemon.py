"""Shows the node daemon's eyes NVIDIA's own control daemons of MPS, and ours in their place (needs root)."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing.commands import Build
from testing.referee import binaries
from testing.referee.control_daemon import DRIVERS, PROGRAM, ControlDaemon

BUILD = Build(Path(os.environ.get("BUILD", "build/dev")).resolve())
_FIRST_WITH_ALL_USERS = 555
_FIRST_WITH_STATUS = 550
_ROUNDS = 50
_BYTES_OF_A_ROUND = 600  # of its log, for both commands of a round of the node daemon


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

    def test_its_log_is_its_output_and_fills_no_volume(self):
        """The chart's pod starts it with -f, because the kubelet bounds what a container writes to its output. The
        control is -d, by which the same lines go to files."""
        for name, _, daemon in self.programs():
            if name.startswith("ours"):
                continue  # it keeps no log
            output = daemon.directory / "output"
            with self.subTest(name), output.open("wb") as written, daemon.running(output=written):
                before = output.stat().st_size
                self.ask_as_the_node_daemon_does(daemon)
                self.assertEqual(sizes_in(daemon.logs), {})
                self.assert_logged(output.stat().st_size - before)
                self.assertIn("Cmd:get_server_list", output.read_text(encoding="utf-8"))
            with self.subTest(name, started="-d"):
                self.assertEqual(daemon.run(["-d"]), "status 0, output ''")
                before = sizes_in(daemon.logs)["control.log"]
                self.ask_as_the_node_daemon_does(daemon)
                self.assert_logged(sizes_in(daemon.logs)["control.log"] - before)
                # It appends, so that a file which is cut back is as small as what is written from then on. The last
                # line of the round before may be among that.
                os.truncate(daemon.logs / "control.log", 0)
                self.ask_as_the_node_daemon_does(daemon, rounds=1)
                self.assertLess(sizes_in(daemon.logs)["control.log"], 2 * _BYTES_OF_A_ROUND)
                daemon.run(lines="quit\n")
                daemon.await_end()

    def test_what_its_servers_log_is_its_output_too(self):
        """Why a server cannot start stands there. Without a GPU none can."""
        found, complaints = binaries.find()
        self.assertEqual(complaints, "")
        drivers = {binary.major: binary for binary in found if binary.package == "libcuda1"}
        for binary in (each for each in found if each.package == "nvidia-cuda-mps"):
            place = self.directory / str(binary.major)
            place.mkdir()
            daemon = ControlDaemon(binary.control, place, PATH=f"{place}:/usr/bin:/bin",
                                   LD_LIBRARY_PATH=str(drivers[binary.major].libraries))
            shutil.copy(binary.server, place)
            output = place / "output"
            with self.subTest(str(binary)), output.open("wb") as written, daemon.running(output=written):
                self.assertEqual(daemon.run(lines="start_server -uid 0\n"), "status 0, output ''")
                daemon.await_true(lambda: re.search(r" (Other|Server) +\d+\] Startup\n", output.read_text("utf-8")))
                self.assertEqual(sizes_in(daemon.logs), {})
                daemon.run(lines="quit\n")

    def ask_as_the_node_daemon_does(self, daemon, rounds=_ROUNDS):
        for _ in range(rounds):
            for command in ("get_server_list", "get_server_status 1"):
                daemon.run(lines=command + "\n")

    def assert_logged(self, grown):
        """Checks that the log has grown by what docs/operations.md says of so many rounds, or by less."""
        self.assertGreater(grown, _ROUNDS * _BYTES_OF_A_ROUND / 2)
        self.assertLess(grown, _ROUNDS * _BYTES_OF_A_ROUND)

    def eyes(self, daemon):
        return _Eyes(daemon)


def sizes_in(folder):
    """Returns {name: bytes} of the files in a folder."""
    return {path.name: path.stat().st_size for path in folder.iterdir()}


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
