"""Tests what becomes of processes that use one software GPU beside others: memory, contexts, copies, faults of MPS.

It is called with the directories of the probe programs and of the libraries.
"""

import os
import signal
import subprocess
import time
import unittest

from probes import ProcessTest

_OUT_OF_MEMORY = 2
_UNAVAILABLE = 46
_NOT_SUPPORTED = 801
_ILLEGAL_ADDRESS = 700
_OTHER_USER = 65534
_SLICE_MS = 500


def uuid(gpu):
    return f"GPU-00000000-0000-0000-0000-{gpu:012x}"


class SharedTest(ProcessTest):
    def numbers(self, *arguments, **options):
        return [int(word) for word in self.run_probe("simgpu_probe_shared", *arguments, **options).split()]

    def hold(self, *gpus, results=None, **options):
        """Starts a process that makes a context on each GPU and stays. Asserts what that returned."""
        process = self.start("simgpu_probe_shared", "hold", *gpus, **options)
        results = [0] * len(gpus) if results is None else results
        self.assertEqual([int(word) for word in process.stdout.readline().split()], results)
        return process

    def leaves_well(self, process):
        """Asserts that the process has its contexts until its input ends."""
        self.assertIsNone(process.poll())
        self.assertEqual(int(self.finish(process)[0]), 0)

    def is_hit(self, process):
        self.assertEqual(int(process.stdout.readline()), _ILLEGAL_ADDRESS)
        self.finish(process)


class SharedMemory(SharedTest):
    def test_imports_may_fail_from_some_moment_on(self):
        for fault, results in (("", [0, 0, 0]), ("import_fails", [_NOT_SUPPORTED] * 3),
                               ("import_fails:1", [0, _NOT_SUPPORTED, _NOT_SUPPORTED])):
            with self.subTest(fault=fault):
                self.assertEqual(self.numbers("imports", 3, SIMGPU_FAULT=fault), results)

    def test_a_process_may_get_no_memory_of_a_gpu(self):
        self.assertEqual(self.numbers("allocations"), [0, 0, 0, 0])
        self.assertEqual(self.numbers("allocations", SIMGPU_FAULT="no_memory"), [_OUT_OF_MEMORY] * 3 + [0])

    def test_memory_of_a_descriptor_outlives_its_exporter_and_that_of_a_handle_does_not(self):
        """The memory that is freed has no content any more, and no handle opens what was freed or whose process is
        gone."""
        self.assertEqual(self.numbers("outlive"), [77, 78, 79, 0, 1, 77, 1])


class ComputeModes(SharedTest):
    exclusive = "1x2,compute_mode=exclusive_process"

    def test_the_mode_is_told_and_kept(self):
        for machine, results in (("1x1", [0, 0, 0, 0]), (self.exclusive, [3, 0, 0, 0]),
                                 ("1x1,compute_mode=prohibited", [2] + [_UNAVAILABLE] * 3)):
            with self.subTest(machine=machine):
                self.assertEqual(self.numbers("mode", machine=machine), results)

    def test_a_gpu_may_have_one_process(self):
        """The other GPU is free meanwhile. A process that was killed keeps no GPU."""
        owner = self.hold(0, machine=self.exclusive)
        self.leaves_well(self.hold(0, 1, machine=self.exclusive, results=[_UNAVAILABLE, 0]))
        pipe, _, _ = self.start_mps()
        client = {"machine": self.exclusive, "CUDA_MPS_PIPE_DIRECTORY": pipe}
        self.leaves_well(self.hold(0, results=[_UNAVAILABLE], **client))
        self.end(owner)
        self.leaves_well(self.hold(0, machine=self.exclusive))
        clients = [self.hold(0, **client), self.hold(0, **client)]
        self.leaves_well(self.hold(0, machine=self.exclusive, results=[_UNAVAILABLE]))
        for process in clients:
            self.leaves_well(process)
        self.leaves_well(self.hold(0, machine=self.exclusive))

    def test_a_context_that_is_released_keeps_no_process_out(self):
        for machine, result in ((self.exclusive, _UNAVAILABLE), ("1x2", 0)):
            owner = self.hold(0, machine=machine)
            self.assertEqual(self.numbers("mode", machine=machine)[1:], [result] * 3)
            self.leaves_well(owner)
            self.assertEqual(self.numbers("mode", machine=machine)[1:], [0] * 3)


class Copies(SharedTest):
    def test_copies_from_outside_mps_may_wait_for_a_slice(self):
        pipe, _, _ = self.start_mps()
        inside, outside = {"CUDA_MPS_PIPE_DIRECTORY": pipe}, {}
        waits = f"1x1,outside_copy_us={_SLICE_MS * 1000}"
        for machine, beside, copies, late in ((waits, inside, outside, True), (waits, inside, inside, False),
                                              (waits, outside, outside, False), (waits, None, outside, False),
                                              ("1x1", inside, outside, False),
                                              (f"{waits},mode=timeslice", inside, outside, False)):
            with self.subTest(machine=machine, beside=beside, copies=copies):
                if beside is not None:
                    victim = self.start_victim(machine=machine, **beside)
                times = [float(word) for word in
                         self.run_probe("simgpu_probe_shared", "copies", machine=machine, **copies).split()]
                if beside is not None:
                    self.end(victim)
                self.assertEqual([time_ms >= _SLICE_MS for time_ms in times], [late] * 5, times)


class FaultDomains(SharedTest):
    machine = "1x4"

    def test_a_fault_hits_the_gpus_that_clients_link(self):
        """Two of the clients do not use the GPU of the fault, and one of these is linked to it by another."""
        pipe, _, ask = self.start_mps()
        client = {"CUDA_MPS_PIPE_DIRECTORY": pipe}
        linked, both, faulty, other = (self.hold(*gpus, **client) for gpus in ((0,), (0, 1), (1, 2), (3,)))
        server = ask("get_server_list").strip()
        self.assertEqual(ask(f"simgpu_fault {server} hits GPU-1"),
                         "Invalid GPU 'GPU-1': expected the UUID of a GPU that a client uses\n")
        self.assertEqual(ask(f"get_server_status {server}"), "ACTIVE\n")
        linked.send_signal(signal.SIGSTOP)  # it cannot end yet
        self.assertEqual(ask(f"simgpu_fault {server} hits {uuid(2)}"), "")
        self.is_hit(both)
        self.is_hit(faulty)
        self.assertEqual(ask(f"get_server_status {server}"), "FAULT\n")
        refused = self.start("simgpu_probe_shared", "hold", 3, **client)
        self.assertIn("CUDA_ERROR_MPS_SERVER_NOT_READY", self.finish(refused, code=1)[1])
        linked.send_signal(signal.SIGCONT)
        self.is_hit(linked)
        while ask(f"get_server_status {server}") != "ACTIVE\n":
            time.sleep(0.01)
        self.leaves_well(self.hold(0, **client))
        self.leaves_well(other)

    def test_a_fault_without_a_gpu_hits_all(self):
        pipe, _, ask = self.start_mps()
        clients = [self.hold(gpu, CUDA_MPS_PIPE_DIRECTORY=pipe) for gpu in (0, 1)]
        self.assertEqual(ask(f"simgpu_fault {ask('get_server_list').strip()} hits"), "")
        for process in clients:
            self.is_hit(process)

    def test_a_client_that_fails_hits_its_own_domain_where_mps_is_strict(self):
        pipe, _, _ = self.start_mps(SIMGPU_MPS_STRICT="1")
        neighbour, other = (self.hold(gpu, CUDA_MPS_PIPE_DIRECTORY=pipe) for gpu in (0, 1))
        failing = self.start("simgpu_probe_unkind", "handover", 1, CUDA_MPS_PIPE_DIRECTORY=pipe,
                             SIMGPU_FAULT="memops_break:0")
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", self.finish(failing, code=1)[1])
        self.is_hit(neighbour)
        self.leaves_well(other)


@unittest.skipUnless(os.geteuid() == 0, "only root can run processes of two users")
class Users(SharedTest):
    def test_a_client_that_stays_keeps_another_user_waiting(self):
        os.chmod(self.directory.name, 0o755)
        pipe, daemon, ask = self.start_mps(stdout=subprocess.PIPE)
        self.addCleanup(daemon.stdout.close)
        stays = self.hold(0, CUDA_MPS_PIPE_DIRECTORY=pipe)
        self.leaves_well(self.hold(0, CUDA_MPS_PIPE_DIRECTORY=pipe))
        waits = self.start("simgpu_probe_shared", "hold", 0, user=_OTHER_USER, CUDA_MPS_PIPE_DIRECTORY=pipe)
        self.assertEqual(daemon.stdout.readline(), f"client {waits.pid} of user {_OTHER_USER} waits\n")
        server = ask("get_server_list")
        self.assertEqual(ask(f"get_client_list {server.strip()}"), f"{stays.pid}\n")
        self.leaves_well(stays)
        self.assertEqual(waits.stdout.readline(), "0 \n")
        self.assertNotEqual(ask("get_server_list"), server, "it has a server of its own")
        self.leaves_well(waits)


if __name__ == "__main__":
    unittest.main()
