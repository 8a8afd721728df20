"""Tests that daemons of a test cluster that end are started again, as an init system does."""

import contextlib
import signal
import tempfile
import time
import unittest
from pathlib import Path

from testing.cluster.rig.supervisor import Supervisor
from testing.processes import Failed, Processes

_PATIENCE_S = 30.0


class Case(unittest.TestCase):
    """Starts a supervisor, and makes a folder in which each program writes a line at each start."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.processes = self.stack.enter_context(Processes("crossover-supervisor-test"))
        self.said = []
        self.supervisor = self.stack.enter_context(Supervisor(self.processes, self.said.append,
                                                                first_pause_s=0.02))

    def start(self, name, script, **more):
        """Starts `script` with sh. COUNT in the script is how often it was started, with this start."""
        file = self.directory / f"{name}.starts"
        count = f'echo start >> {file}; COUNT=$(wc -l < {file}); '
        self.supervisor.start(name, ["sh", "-c", count + script], log=self.directory / f"{name}.log", **more)

    def starts(self, name):
        file = self.directory / f"{name}.starts"
        return len(file.read_text(encoding="ascii").splitlines()) if file.exists() else 0

    def until(self, condition):
        end = time.monotonic() + _PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end, "it never came")
            time.sleep(0.01)


class EndsUnasked(Case):
    def test_is_started_again_counted_and_told(self):
        self.start("scheduler", "echo says $COUNT; [ $COUNT -ge 3 ] && exec sleep 1000; exit 4")
        self.until(lambda: self.starts("scheduler") == 3)
        self.until(lambda: self.supervisor.restarts("scheduler") == 2)
        self.assertEqual(len(self.said), 2)
        self.assertIn("scheduler has ended with exit code 4", self.said[0])
        log = (self.directory / "scheduler.log").read_text(encoding="utf-8")
        self.assertIn("says 1", log, "what it said before is kept")
        self.assertIn("started again (restart 2)", log)
        self.supervisor.check()

    def test_one_that_ends_again_and_again_is_a_failure_with_its_last_words(self):
        self.start("broken", "echo no such flag; exit 1")
        with self.assertRaisesRegex(Failed, "broken has ended 7 times in a row.*no such flag"):
            self.until(self.checked)
        starts = self.starts("broken")
        self.assertEqual(starts, 7)

    def checked(self):
        self.supervisor.check()

    def test_what_is_tested_runs_again_and_is_a_failure(self):
        self.start("extender", "[ $COUNT -ge 2 ] && exec sleep 1000; exit 1", product=True)
        self.until(lambda: self.starts("extender") == 2)
        with self.assertRaisesRegex(Failed, "extender has ended 1 times unasked"):
            self.supervisor.check()


class EndedByATest(Case):
    def test_is_left_to_the_test(self):
        self.start("killed", "exec sleep 1000")
        self.start("beside", "[ $COUNT -ge 2 ] && exec sleep 1000; exit 1")
        self.until(lambda: self.starts("killed") == 1)
        self.processes.signal("killed", signal.SIGKILL)
        self.until(lambda: self.starts("beside") == 2)  # the supervisor has looked, and waited as long as it does
        self.assertEqual(self.starts("killed"), 1)
        self.start("killed", "exec sleep 1000")
        self.until(lambda: self.starts("killed") == 2)
        self.assertEqual(self.supervisor.restarts("killed"), 0)
        self.supervisor.check()

    def test_stopped_ones_stay_so(self):
        self.start("stopped", "exec sleep 1000", product=True)
        self.processes.stop(["stopped"])
        self.start("beside", "[ $COUNT -ge 2 ] && exec sleep 1000; exit 1")
        self.until(lambda: self.starts("beside") == 2)
        self.assertLessEqual(self.starts("stopped"), 1)
        self.supervisor.check()

    def test_is_started_again_while_parts_may_end(self):
        self.start("killed", "exec sleep 1000", product=True)
        self.until(lambda: self.starts("killed") == 1)
        self.processes.signal("killed", signal.SIGKILL)
        with self.supervisor.reviving():
            self.until(lambda: self.starts("killed") == 2)
        self.assertTrue(self.processes.alive("killed"))
        self.supervisor.check()

    def test_one_that_was_started_again_is_not_there_twice(self):
        ids = self.directory / "ids"
        self.start("twice", f"echo $$ > {ids}.new; mv {ids}.new {ids}; exec sleep 1000")
        self.until(ids.exists)
        self.start("twice", "exec sleep 1000")
        first = ids.read_text(encoding="ascii").strip()
        self.assertFalse(Path(f"/proc/{first}").exists())


if __name__ == "__main__":
    unittest.main()
