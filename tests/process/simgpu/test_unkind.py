"""Tests what a software GPU does where it is told to be less kind, and that it does none of it otherwise.

It is called with the directories of the probe programs and of the libraries.
"""

import signal
import time
import unittest

from probes import ProcessTest

_ILLEGAL_ADDRESS = "CUDA_ERROR_ILLEGAL_ADDRESS"
_DEINITIALIZED = 4
_ROUNDS = 20


class UnkindGpu(ProcessTest):
    def unkind(self, *arguments, **options):
        return self.run_probe("simgpu_probe_unkind", *arguments, **options)

    def test_a_write_may_wait_for_its_whole_channel(self):
        """A kernel spins on one stream, and 8 other streams write. Those of its channel come after its end."""
        for machine, connections, late in (("1x1", None, 0), ("1x1,channel_order=release", None, 1),
                                           ("1x1,channel_order=release,channels=2", None, 4),
                                           ("1x1,channel_order=release,channels=1", None, 8),
                                           ("1x1,channel_order=release", "2", 4),
                                           ("1x1,channel_order=in_order,channels=4", None, 2)):
            with self.subTest(machine=machine, connections=connections):
                variables = {"CUDA_DEVICE_MAX_CONNECTIONS": connections} if connections else {}
                self.assertEqual(self.unkind("channels", 8 - late, machine=machine, **variables).strip(), str(late))

    def test_a_stream_is_done_when_its_own_work_is(self):
        """Work of another stream that stands behind it in its channel does not count, and work before it does."""
        self.assertEqual(self.unkind("queries", machine="1x1,channel_order=in_order,channels=1").strip(), "1100")

    def test_a_bad_number_of_connections_is_named(self):
        process = self.start("simgpu_probe_unkind", "channels", 8, CUDA_DEVICE_MAX_CONNECTIONS="many")
        self.assertIn("environment: CUDA_DEVICE_MAX_CONNECTIONS=many: expected a whole number from 1 to 32",
                      self.finish(process)[1])

    def test_a_wait_may_read_before_the_write_in_front_of_it_is_seen(self):
        fault = "early_waits_us:2000"
        for how in "list", "calls":
            self.assertGreater(int(self.unkind("litmus", how, _ROUNDS, SIMGPU_FAULT=fault)), 0, how)
            self.assertEqual(int(self.unkind("litmus", how, _ROUNDS)), 0, how)
        self.assertEqual(int(self.unkind("litmus", "barrier", _ROUNDS, SIMGPU_FAULT=fault)), 0)

    def test_a_handover_may_take_its_time(self):
        """A quarter of the hand-overs is judged: a program that waits for a core has longer ones, never shorter."""
        times = [float(word) for word in self.unkind("handover", _ROUNDS, machine="1x1,handover_us=3000").split()]
        self.assertEqual(len(times), _ROUNDS)
        self.assertGreaterEqual(min(times), 3.0)
        self.assertLess(sorted(times)[_ROUNDS // 4], 3.5)
        times = [float(word) for word in self.unkind("handover", _ROUNDS).split()]
        self.assertLess(sorted(times)[_ROUNDS // 4], 1.0)

    def test_a_switch_of_processes_may_take_its_time(self):
        """A kernel of 20 ms has ten slices of 2 ms. Between two of them the other process has one."""
        machine = "1x1,mode=timeslice"
        self.assertLess(self.beside_victim(20_000_000, machine), 42.1)
        self.assertAlmostEqual(self.beside_victim(20_000_000, f"{machine},switch_us=1000"), 58.0, delta=4.1)
        self.assertAlmostEqual(self.kernel(machine=f"{machine},switch_us=1000"), 20.0, delta=0.02)

    def beside_blocked(self, streams, machine, where="host"):
        """Returns the time in ms of a kernel of 20 ms beside a process that stands at a word with some streams."""
        process = self.start("simgpu_probe_unkind", "blocked", streams, where, machine=machine)
        self.assertEqual(process.stdout.readline(), "blocked\n")
        beside = self.kernel(machine=machine)
        self.end(process)
        return beside

    def test_blocked_waits_may_slow_kernels_down(self):
        self.assertAlmostEqual(self.beside_blocked(10, "1x1"), 20.0, delta=0.02)
        priced = "1x1,blocked_wait_ns=100000"
        self.assertAlmostEqual(self.beside_blocked(1, priced), 20.1, delta=0.03)
        self.assertAlmostEqual(self.beside_blocked(10, priced), 21.0, delta=0.03)
        self.assertAlmostEqual(self.kernel(machine=priced), 20.0, delta=0.02)

    def test_the_price_of_a_blocked_wait_depends_on_where_its_word_is(self):
        host, device = "1x1,blocked_wait_ns=100000", "1x1,blocked_device_wait_ns=200000"
        self.assertAlmostEqual(self.beside_blocked(5, host, "device"), 20.0, delta=0.03)
        self.assertAlmostEqual(self.beside_blocked(5, device, "device"), 21.0, delta=0.03)
        self.assertAlmostEqual(self.beside_blocked(5, device, "host"), 20.0, delta=0.03)

    def test_a_first_launch_may_wait_for_the_context(self):
        for rule, variable, how, said in (
                ("off", None, "", "0 0 0 0 eager 1 1"), ("first", None, "", "1 0 0 0 lazy 0 1"),
                ("first", None, "load", "0 0 0 0 lazy 0 1"), ("2", None, "", "1 0 1 0 lazy 0 1"),
                ("first", "EAGER", "", "0 0 0 0 eager 1 1")):
            with self.subTest(lazy_loading=rule, CUDA_MODULE_LOADING=variable, how=how):
                variables = {"CUDA_MODULE_LOADING": variable} if variable else {}
                self.assertEqual(self.unkind("loading", how, machine=f"1x1,lazy_loading={rule}", **variables).strip(),
                                 said)

    def test_a_load_may_take_its_time(self):
        """The launch waits for a kernel of 100 ms first."""
        for machine, least in (("1x1,lazy_loading=first", 99), ("1x1,lazy_loading=first,loading_us=200000", 299)):
            _, took_ms = self.finish(self.start("simgpu_probe_unkind", "loading", "", machine=machine))
            self.assertGreaterEqual(float(took_ms), least)
        _, took_ms = self.finish(self.start("simgpu_probe_unkind", "loading", "", machine="1x1,loading_us=200000"))
        self.assertLess(float(took_ms), 99, "nothing is loaded by a launch")

    def test_calls_behind_the_drivers_end_may_crash(self):
        fault = "crash_after_exit:200000"
        self.finish(self.start("simgpu_probe_unkind", "exit", "asked"))
        self.finish(self.start("simgpu_probe_unkind", "exit", "asked", SIMGPU_FAULT=fault), code=-signal.SIGSEGV)
        began = time.monotonic()
        out, _ = self.finish(self.start("simgpu_probe_unkind", "exit", "alone", SIMGPU_FAULT=fault))
        self.assertEqual(int(out), _DEINITIALIZED, "the thread that runs exit handlers gets an error")
        self.assertGreaterEqual(time.monotonic() - began, 0.2)

    def test_a_program_may_end_in_place_of_a_launch(self):
        self.assertEqual(self.unkind("launches", SIMGPU_FAULT="exit_at_launch:3").strip(), "3")
        self.assertEqual(self.unkind("launches").strip(), "10")

    def test_a_fault_of_a_server_hits_its_clients(self):
        """They lose their contexts and end. Until then no new client comes in."""
        pipe, _, ask = self.start_mps()
        client = self.start("simgpu_probe_unkind", "blocked", 1, CUDA_MPS_PIPE_DIRECTORY=pipe)
        self.assertEqual(client.stdout.readline(), "blocked\n")
        server = ask("get_server_list").strip()
        self.assertEqual(ask(f"simgpu_fault {server} all"), "Invalid word 'all': expected hits or nothing\n")
        self.assertEqual(ask(f"simgpu_recover {server} hits"), "Invalid word 'hits': expected nothing\n")
        self.assertEqual(ask(f"get_server_status {server}"), "ACTIVE\n")
        client.send_signal(signal.SIGSTOP)  # it cannot end yet
        self.assertEqual(ask(f"simgpu_fault {server} hits"), "")
        refused = self.start("simgpu_probe_job", "sms", CUDA_MPS_PIPE_DIRECTORY=pipe)
        self.assertIn("CUDA_ERROR_MPS_SERVER_NOT_READY", self.finish(refused, code=1)[1])
        client.send_signal(signal.SIGCONT)
        self.assertIn(_ILLEGAL_ADDRESS, self.finish(client, code=1)[1])
        while ask(f"get_server_status {server}") != "ACTIVE\n":
            time.sleep(0.01)
        self.run_probe("simgpu_probe_job", "sms", CUDA_MPS_PIPE_DIRECTORY=pipe)

    def test_a_client_that_fails_hits_its_neighbours_where_mps_is_strict(self):
        pipe, _, _ = self.start_mps(SIMGPU_MPS_STRICT="1")
        neighbour = self.start("simgpu_probe_unkind", "blocked", 1, CUDA_MPS_PIPE_DIRECTORY=pipe)
        self.assertEqual(neighbour.stdout.readline(), "blocked\n")
        failing = self.start("simgpu_probe_unkind", "handover", 1, CUDA_MPS_PIPE_DIRECTORY=pipe,
                             SIMGPU_FAULT="memops_break:0")
        for process in failing, neighbour:
            self.assertIn(_ILLEGAL_ADDRESS, self.finish(process, code=1)[1])


if __name__ == "__main__":
    unittest.main()
