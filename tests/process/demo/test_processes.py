import os
import signal
import tempfile
import unittest
from pathlib import Path

from testing.processes import Failed, Processes, family
from tests.process.demo.leftovers import until


class Running(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.log = Path(directory.name) / "log"
        self.mark = f"processes-{os.getpid()}"

    def test_waits_for_all(self):
        with Processes(self.mark) as processes:
            processes.start("a", ["true"])
            processes.start("b", ["sh", "-c", "exit 0"])
            processes.wait(["a", "b"], 10)

    def test_a_failure_names_the_process_and_its_last_words(self):
        with Processes(self.mark) as processes:
            processes.start("rank3", ["sh", "-c", "echo out of memory; exit 7"], log=self.log)
            processes.start("other", ["sleep", "600"])
            with self.assertRaisesRegex(Failed, "rank3 ended with exit code 7.*out of memory"):
                processes.wait(["other", "rank3"], 10)

    def test_a_signal_is_named(self):
        with Processes(self.mark) as processes:
            processes.start("rank0", ["sh", "-c", "kill -SEGV $$"])
            with self.assertRaisesRegex(Failed, "SIGSEGV"):
                processes.wait(["rank0"], 10)

    def test_a_deadline_names_who_is_late(self):
        with Processes(self.mark) as processes:
            processes.start("rank1", ["sleep", "600"])
            with self.assertRaisesRegex(Failed, "rank1 still runs"):
                processes.wait(["rank1"], 0)

    def test_stop_asks_descendants_too(self):
        with Processes(self.mark) as processes:
            shell = processes.start("arbiter", ["sh", "-c", "sh -c 'trap \"echo bye; exit\" TERM; echo up; "
                                                "while :; do sleep 0.05; done'; true"], log=self.log)
            self.assertTrue(until(lambda: "up" in self.log.read_text()))
            self.assertGreaterEqual(len(family(shell.pid)), 2)
            processes.stop(["arbiter"])
            self.assertIn("bye", self.log.read_text())

    def test_a_signal_is_for_the_process_and_not_for_what_it_has_started(self):
        script = "trap 'echo heard; exit' TERM; echo up; while :; do sleep 600; done"
        with Processes(self.mark) as processes:
            processes.start("daemon", ["setpriv", "--nnp", "--", "sh", "-c", script], log=self.log)
            self.assertTrue(until(lambda: "up" in self.log.read_text() and len(processes.family("daemon")) > 1))
            sleeping = processes.family("daemon")[0]
            processes.signal("daemon", signal.SIGTERM)
            os.kill(sleeping, signal.SIGKILL)  # a shell handles a signal once the command that it waits for has ended
            self.assertTrue(until(lambda: not processes.alive("daemon")))
            self.assertIn("heard", self.log.read_text())

    def test_the_way_out_ends_everything(self):
        with Processes(self.mark) as processes:
            stubborn = processes.start("stubborn", ["sh", "-c", "trap '' TERM; echo up; exec sleep 600"],
                                       log=self.log)
            self.assertTrue(until(lambda: "up" in self.log.read_text()))
        self.assertEqual(stubborn.poll(), -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
