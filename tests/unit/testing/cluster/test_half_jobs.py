"""Tests who is found to have held GPUs with a part of its pods."""

import unittest

from tests.cluster.owners.half_jobs import HalfJobs


def pod(name, node="a", phase="Running", managed=True):
    return {"metadata": {"name": name, "uid": name, "labels": {"crossover.dev/managed": "true"} if managed else {}},
            "spec": {"nodeName": node} if node else {}, "status": {"phase": phase}}


class Halves(unittest.TestCase):
    def setUp(self):
        self.halves = HalfJobs()
        self.halves.expect("job", 2)

    def see(self, when, name, kind="MODIFIED", **more):
        self.halves.on_pod(when, kind, pod(name, **more))

    def test_a_part_that_is_bound_is_half_a_job_until_the_rest_is(self):
        self.see(0, "job-0")
        self.see(5, "job-1", node=None)
        self.see(30, "job-1")
        self.assertEqual(self.halves.longer_than(29), {"job": 30})
        self.assertEqual(self.halves.longer_than(31), {})

    def test_a_job_that_is_half_a_job_again_is_found(self):
        self.see(0, "job-0")
        self.see(1, "job-1")
        self.see(10, "job-1", kind="DELETED")
        self.see(50, "job-1")
        self.assertEqual(self.halves.longer_than(30), {"job": 40})

    def test_pods_that_have_succeeded_are_not_missing(self):
        self.see(0, "job-0")
        self.see(1, "job-1")
        self.see(2, "job-1", phase="Succeeded")
        self.see(90, "job-0", phase="Failed")
        self.assertEqual(self.halves.longer_than(5), {})

    def test_other_pods_do_not_count(self):
        for name in ("other-0", "jobs-0"):
            self.see(0, name)
        self.see(0, "job-0", managed=False)
        self.see(90, "job-0", managed=False)
        self.assertEqual(self.halves.longer_than(5), {})


if __name__ == "__main__":
    unittest.main()
