import contextlib
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from testing import isolation
from testing.processes import find_marked, kill_marked
from tests.process.demo.leftovers import directories, interfaces, processes_gone, until


@contextlib.contextmanager
def two_nodes(mark):
    """Returns a context with two isolated nodes. Tests that need it carry the label root."""
    with isolation.nodes(2, mark) as (nodes, refused):
        if not nodes.isolated:
            raise AssertionError(f"namespaces are refused here: {refused}")
        yield nodes


def output(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Nodes(unittest.TestCase):
    mark = f"isolation-{os.getpid()}"

    def test_nodes_reach_each_other_by_tcp_alone(self):
        serve = ("import socket; s = socket.create_server(('10.77.0.1', 7001)); print('up', flush=True); "
                 "c, _ = s.accept(); c.sendall(b'hello')")
        ask = "import socket; print(socket.create_connection(('10.77.0.1', 7001), 5).recv(5).decode())"
        with two_nodes(self.mark) as nodes:
            with subprocess.Popen(nodes.as_client(0, [sys.executable, "-c", serve]), stdout=subprocess.PIPE,
                                  text=True) as server:
                try:
                    self.assertEqual(server.stdout.readline(), "up\n")
                    self.assertEqual(output(nodes.as_client(1, [sys.executable, "-c", ask])), "hello\n")
                finally:
                    server.kill()
            self.assertNotIn("10.77.0", Path("/proc/net/fib_trie").read_text(encoding="ascii"))

    def test_each_client_sees_only_itself(self):
        with two_nodes(self.mark) as nodes:
            listing = output(nodes.as_client(0, ["sh", "-c", "echo $$; ls -d /proc/[0-9]*"])).split()
            self.assertEqual(listing[0], "1")
            self.assertLessEqual(len(listing), 4)
            spaces = {output(nodes.as_client(n, ["readlink", f"/proc/self/ns/{kind}"]))
                      for n in range(2) for kind in ("pid", "ipc", "net", "mnt")}
            host = {os.readlink(f"/proc/self/ns/{kind}") + "\n" for kind in ("pid", "ipc", "net", "mnt")}
            self.assertEqual(spaces & host, set())

    def test_sockets_of_two_arbiters_have_one_name_and_two_places(self):
        with two_nodes(self.mark) as nodes:
            path = nodes.socket(0, None)
            self.assertEqual(path, nodes.socket(1, None))
            output(nodes.on_node(0, ["touch", path]))
            self.assertTrue(Path(nodes.reach(0, path)).exists())
            self.assertFalse(Path(nodes.reach(1, path)).exists())

    def test_nothing_stays(self):
        before = interfaces()
        with two_nodes(self.mark) as nodes:
            client = subprocess.Popen(nodes.as_client(0, ["sh", "-c", "echo up; exec sleep 600"]),
                                      env={**os.environ, "CROSSOVER_SESSION": self.mark}, stdout=subprocess.PIPE)
            self.assertEqual(client.stdout.readline(), b"up\n")
            self.assertEqual(interfaces(), before)
        self.assertNotEqual(client.wait(10), 0)
        client.stdout.close()
        self.assertTrue(processes_gone(self.mark))
        self.assertEqual(interfaces(), before)

    def test_refusal_is_said_and_survived(self):
        path = os.environ["PATH"]
        os.environ["PATH"] = "/nonexistent"
        try:
            with isolation.nodes(2, self.mark) as (nodes, refused):
                self.assertFalse(nodes.isolated)
                self.assertIn("not installed", refused)
                self.assertEqual(nodes.address(1), "127.0.0.1")
        finally:
            os.environ["PATH"] = path


class KilledDriver(unittest.TestCase):
    """Ends the driver by each signal that a user, a shell or the kernel sends."""

    def start(self, mark):
        driver = subprocess.Popen([sys.executable, "-B", "-m", "tests.process.demo.driver", mark],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(driver.stdout.close)
        self.addCleanup(kill_marked, mark)
        self.assertEqual(driver.stdout.readline(), "up\n")
        self.assertTrue(find_marked(mark))
        return driver

    def end_by(self, number):
        mark = f"driver-{os.getpid()}-{number}"
        before = interfaces()
        driver = self.start(mark)
        driver.send_signal(number)
        code = driver.wait(10)
        self.assertTrue(processes_gone(mark), find_marked(mark))
        self.assertEqual(interfaces(), before)
        return code, directories(mark)

    def test_interrupt_and_termination_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.assertEqual(self.end_by(number), (130, []))

    def test_kill_leaves_no_process_and_down_removes_the_rest(self):
        code, left = self.end_by(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(len(left), 1)
        os.rmdir(left[0])

    def test_escaped_processes_are_found_by_their_mark(self):
        mark = f"escaped-{os.getpid()}"
        stray = subprocess.Popen(["setsid", "sleep", "600"], env={**os.environ, "CROSSOVER_SESSION": mark})
        self.addCleanup(stray.wait)
        self.addCleanup(stray.kill)
        self.assertTrue(until(lambda: stray.pid in find_marked(mark)))
        self.assertEqual(kill_marked(mark), 1)


if __name__ == "__main__":
    unittest.main()
