"""Tests what the processes of a job of JAX learn, and how the job ends."""

import unittest
from unittest import mock

from testing.frameworks import launch_jax


class Launch(unittest.TestCase):
    def run_in_shell(self, count, text):
        """Runs a text of the shell in each process. Returns the status of the job."""
        with mock.patch.object(launch_jax, "add_device_file"):
            return launch_jax.main([str(count), "4321", "/bin/sh", "-c", text])

    def test_each_process_learns_its_number_and_where_the_first_is(self):
        self.assertEqual(self.run_in_shell(2, '[ "$NUM_PROCESSES $COORDINATOR_ADDRESS $COORDINATOR_PORT" = '
                                              '"2 127.0.0.1 4321" ] && [ "$RANK" = "$PROCESS_ID" ]'), 0)

    def test_one_process_is_alone(self):
        self.assertEqual(self.run_in_shell(1, '[ -z "${NUM_PROCESSES+set}" ] && [ "$RANK" = 0 ]'), 0)

    def test_a_job_of_which_one_process_fails_fails(self):
        self.assertEqual(self.run_in_shell(2, 'exit "$PROCESS_ID"'), 1)
        self.assertEqual(self.run_in_shell(2, "exit 0"), 0, "the control")


if __name__ == "__main__":
    unittest.main()
