import os
import tempfile
import unittest
from dataclasses import replace
from unittest import mock

from testing import session, validity
from testing.commands import Job
from testing.machine import Machine
from testing.processes import Failed
from tests.process.demo import stand_ins
from tests.process.demo.leftovers import directories, processes_gone


class Session(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.build = stand_ins.make_build(directory.name)
        self.mark = f"session-{os.getpid()}"
        jobs = (Job("alpha", 1, iterations=50), Job("beta", 2, iterations=50))
        self.plan = session.Plan(Machine(), jobs, deadline_s=20.0)

    def tearDown(self):
        self.assertTrue(processes_gone(self.mark))
        self.assertEqual(directories(self.mark), [])

    def test_logs_of_all_ranks_are_read(self):
        result = session.run(self.build, self.plan, self.mark)
        self.assertEqual([r.rank for r in result.job("beta").ranks], [0, 1, 2, 3])
        self.assertAlmostEqual(result.job("alpha").ranks[0].iterations[0].compute_ns, 2_500_000)
        self.assertEqual(result.job("beta").digest, "2+2+2+2")
        self.assertEqual(result.trace, ())

    def test_with_a_library_arbiters_run_and_leave_their_traces(self):
        for isolated in (True, False):
            with self.subTest(isolated=isolated):
                plan = replace(self.plan, library=self.build.library, isolated=isolated)
                result = session.run(self.build, plan, self.mark)
                self.assertEqual(len(result.trace), 6)
                self.assertTrue(result.job("alpha").complete)

    def test_a_failing_rank_is_named_with_its_words(self):
        plan = replace(self.plan, environment={"STAND_IN_FAILS": "2"})
        with self.assertRaisesRegex(Failed, "rank2 ended with exit code 1.*out of memory"):
            session.run(self.build, plan, self.mark)

    def test_a_daemon_that_does_not_come_up_is_named(self):
        (self.build.top / "bin" / "crossover-deviceplugin").write_text("#!/bin/sh\necho bad key; exit 2\n")
        with self.assertRaisesRegex(Failed, "arbiter0 does not listen.*bad key"):
            session.run(self.build, replace(self.plan, library=self.build.library), self.mark)

    def test_void_runs_are_repeated_three_times_and_no_more(self):
        notes = []
        plan = replace(self.plan, environment={"STAND_IN_LATE": "301"}, limits=validity.Limits(cpu=2.0))
        quiet = mock.patch.object(validity, "wait_until_quiet", lambda patience: None)
        with quiet:
            result = session.run_valid(self.build, plan, self.mark, note=notes.append)
            self.assertIn("kernels 301 us late", result.load.void)
        self.assertEqual(len(notes), 3)

    def test_files_can_be_kept(self):
        with tempfile.TemporaryDirectory() as directory:
            session.run(self.build, self.plan, self.mark, keep=f"{directory}/kept")
            self.assertIn("machine.yaml", os.listdir(f"{directory}/kept"))
            self.assertIn("alpha-rank0.jsonl", os.listdir(f"{directory}/kept/logs"))


if __name__ == "__main__":
    unittest.main()
