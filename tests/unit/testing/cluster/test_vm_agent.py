"""Tests how commands get into a virtual machine (testing/cluster/vm), by an agent and a client on this machine."""

import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from testing.cluster.vm import agent
from testing.cluster.vm.far_path import FarPath
from testing.ports import free_port
from testing.processes import Failed, await_true, dying_with_parent

_VM = Path(agent.__file__).parent
_PATIENCE_S = 30.0


class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        server = subprocess.Popen(dying_with_parent([sys.executable, "-B", str(_VM / "agent.py"), str(cls.port)]))
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.kill)
        await_true("an agent", lambda: cls.run_there(["true"]).returncode == 0, _PATIENCE_S)

    @classmethod
    def enter(cls, command):
        return [sys.executable, "-S", "-B", str(_VM / "enter.py"), "127.0.0.1", str(cls.port), *command]

    @classmethod
    def run_there(cls, command, **more):
        return subprocess.run(cls.enter(command), capture_output=True, text=True, check=False, timeout=_PATIENCE_S,
                              **more)

    def sleeper(self):
        """Starts a command that does not end, and returns its client and its process ID."""
        client = subprocess.Popen(self.enter(["sh", "-c", "echo $$; exec sleep 1000"]), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        return client, int(client.stdout.readline())

    def test_output_input_environment_and_exit_code_are_the_commands(self):
        done = self.run_there(["sh", "-c", 'cat; echo "$ASKED" >&2; exit 7'], input="said " * 50_000,
                              env={**os.environ, "ASKED": "for"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "said " * 50_000, "for\n"))

    def test_a_program_that_is_not_there_is_told(self):
        done = self.run_there(["/nowhere/at-all"])
        self.assertEqual(done.returncode, 127)
        self.assertIn("No such file or directory: '/nowhere/at-all'", done.stderr)

    def test_a_signal_ends_the_command_and_its_client_alike(self):
        client, pid = self.sleeper()
        client.send_signal(signal.SIGTERM)
        self.assertEqual(client.wait(_PATIENCE_S), -signal.SIGTERM)
        self.assertFalse(Path(f"/proc/{pid}").exists())

    def test_a_client_that_is_killed_takes_its_command_along(self):
        client, pid = self.sleeper()
        client.kill()
        await_true("the end of the command", lambda: not Path(f"/proc/{pid}").exists(), _PATIENCE_S)

    def test_what_a_command_has_started_lives_on(self):
        done = self.run_there(["sh", "-c", "sleep 1000 > /dev/null 2>&1 & echo $!"])
        pid = int(done.stdout)
        self.assertTrue(Path(f"/proc/{pid}").exists())
        os.kill(pid, signal.SIGKILL)

    def test_without_an_agent_the_client_says_so(self):
        done = subprocess.run([*self.enter([])[:-1], "1", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 255)
        self.assertIn("127.0.0.1:1: the virtual machine does not answer", done.stderr)

    def test_files_are_read_and_written_there(self):
        folder = FarPath(self.enter, self.run_there(["mktemp", "--directory"]).stdout.strip())
        self.addCleanup(self.run_there, ["rm", "-r", str(folder)])
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text("text\n")
        self.assertEqual((folder / "inner" / "file").read_text(), "text\n")
        self.assertEqual([path.name for path in folder.iterdir()], ["inner"])
        self.assertTrue((folder / "inner").is_dir() and not (folder / "other").exists())
        with self.assertRaisesRegex(Failed, "read_text of .*/other: .*No such file"):
            (folder / "other").read_text()


if __name__ == "__main__":
    unittest.main()
