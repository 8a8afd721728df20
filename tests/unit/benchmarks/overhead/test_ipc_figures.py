"""Tests the pure parts of the figures eta_ipc and ipc_idle."""

import unittest

from benchmarks.overhead import idle_cost, ipc_idle
from benchmarks.overhead.idle_cost import Cost, Idle
from benchmarks.turns import eta_ipc
from testing import transports

_ROLLUP = """55d0c7a00000-7ffd3a5fe000 ---p 00000000 00:00 0                          [rollup]
Rss:                9000 kB
Pss:                4000 kB
Shared_Clean:       5000 kB
Private_Clean:       300 kB
Private_Dirty:      2500 kB
Private_Hugetlb:      77 kB
"""


def idle(daemon, signallers=(0.0, 0.0), exported=0):
    return Idle(Cost(*daemon), Cost(*signallers), exported)


class IdleCost(unittest.TestCase):
    def test_private_memory_is_clean_and_dirty(self):
        self.assertEqual(idle_cost.private_kib(_ROLLUP), 2800)
        with self.assertRaisesRegex(ValueError, "expected lines Private_Clean and Private_Dirty, got ''"):
            idle_cost.private_kib("")

    def test_processor_time_is_of_all_threads(self):
        self.assertEqual(idle_cost.processor_ns(["1000 7 3\n", "500 0 1\n"]), 1500)

    def test_the_signallers_cost_counts_in_the_control_alone(self):
        host, ipc = idle((2000, 0.001)), idle((2100, 0.002), (900, 0.05), 8 << 20)
        more, within = ipc_idle.more_than(ipc, host), ipc_idle.work_within(ipc, host)
        self.assertEqual((more.private_kib, round(more.processor, 6)), (100, 0.001))
        self.assertEqual((within.private_kib, round(within.processor, 6)), (1000, 0.051))
        self.assertTrue(ipc_idle.GOAL.met_by(more.private_kib))
        self.assertFalse(ipc_idle.GOAL.met_by(within.private_kib))

    def test_all_that_it_costs_is_stated(self):
        host, ipc = idle((2000, 0.001)), idle((2100, 0.002), (900, 0.05), 8 << 20)
        stated = {name: samples for name, _, samples in ipc_idle.costs_when_on([ipc], [host])}
        self.assertEqual(stated["daemon_memory"], [100])
        self.assertEqual(stated["signallers_memory"], [900])
        self.assertEqual(stated["signallers_processor"], [0.05])
        self.assertEqual(stated["gpu_memory"], [8.0])


class Transports(unittest.TestCase):
    TOP = {"jobs": [{"clients": [{"transport": "signalled_gates"}, {"transport": "signalled_gates"}]},
                    {"clients": [{"transport": "gpu_gates"}]}]}

    def test_each_client_is_asked(self):
        self.assertEqual(transports.transports_in(self.TOP), ["signalled_gates", "signalled_gates", "gpu_gates"])
        self.assertEqual(transports.transports_in({"jobs": []}), [])

    def test_a_run_by_other_gates_does_not_count(self):
        self.assertEqual(transports.not_by("ipc", ["signalled_gates"] * 8, 8), "")
        self.assertEqual(transports.not_by("gpu", ["gpu_gates"] * 8, 8), "")
        self.assertEqual(transports.not_by("ipc", ["signalled_gates", "gpu_gates"], 2),
                         "transports: expected 2 times signalled_gates, got gpu_gates, signalled_gates")
        self.assertEqual(transports.not_by("ipc", ["signalled_gates"], 2),
                         "transports: expected 2 times signalled_gates, got signalled_gates")
        self.assertEqual(transports.not_by("gpu", [], 2), "transports: expected 2 times gpu_gates, got none")

    def test_the_cases_are_nine_of_eta(self):
        self.assertEqual(len(eta_ipc.CASES), 9)
        self.assertLessEqual(set(eta_ipc.CASES), set(eta_ipc.eta.CASES))


if __name__ == "__main__":
    unittest.main()
