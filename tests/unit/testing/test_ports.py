import contextlib
import socket
import unittest

from testing.ports import free_port
from testing.processes import Failed


class Ports(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def listen(self, port):
        listener = self.stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", port))
        listener.listen()

    def test_one_that_is_taken_is_passed_over(self):
        first = free_port()
        after = {free_port() for _ in range(19)}
        self.assertNotIn(first, after, "each of its own once, before one comes again")
        self.listen(first)
        self.assertIn(free_port(), after)

    def test_no_outgoing_connection_gets_one(self):
        self.assertLess(max(free_port() for _ in range(20)), 32768)

    def test_that_all_are_taken_is_said(self):
        for port in {free_port() for _ in range(20)}:
            self.listen(port)
        with self.assertRaisesRegex(Failed, "are all taken"):
            free_port()


if __name__ == "__main__":
    unittest.main()
