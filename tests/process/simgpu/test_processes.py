"""Tests separate processes on one software GPU: sharing, hand-over of words, death, limits.

It is called with the directories of the probe programs and of the libraries; it sets SIMGPU_* and LD_LIBRARY_PATH.
"""

import os
import signal
import time
import unittest

from lateness import lateness_us
from probes import PROBES, ProcessTest

# A run that takes too long is void if its threads were later than this at p99. So many may be void in a row.
MOST_LATE_US = 300
MOST_VOID_RUNS = 3


class SharedGpus(ProcessTest):
    def test_linked_program(self):
        for machine in "1x1,mode=mps", "1x1,mode=timeslice", "1x1,queue_depth=8":
            with self.subTest(machine=machine):
                self.expect_times("memory operations:", 20.0, 21.0,
                                  lambda directory, on=machine: self.run_probe("simgpu_probe_api", machine=on,
                                                                               SIMGPU_REPORT=directory))

    def expect_times(self, name, least, most, run):
        """Asserts that of the times that `run` prints behind `name` none is below `least` and a quarter is below
        `most`: a program that waits for a core has longer times, and never shorter ones. A run that takes too long is
        repeated if its threads were too late."""
        for number in range(MOST_VOID_RUNS + 1):
            directory = os.path.join(self.directory.name, f"report-{number}-{len(os.listdir(self.directory.name))}")
            os.mkdir(directory)
            line = next(row for row in run(directory).splitlines() if row.startswith(name))
            times = [float(word) for word in line[len(name):].split()]
            self.assertGreater(len(times), 7)
            self.assertGreaterEqual(min(times), 0.9995 * least)
            if sorted(times)[len(times) // 4] < most:
                return
            late = lateness_us(directory)
            self.assertGreater(late, MOST_LATE_US, f"expected a quarter below {most} ms, got {times}")
        self.fail(f"each of {MOST_VOID_RUNS + 1} runs was void: threads were {late} us late at p99")

    def test_looked_up_functions(self):
        self.run_probe("simgpu_probe_lookup")

    def test_two_processes_hand_a_word_to_and_fro(self):
        word = os.path.join(self.directory.name, "words")
        both = [self.start("simgpu_probe_job", "pingpong", word, side, 200) for side in (0, 1)]
        for process in both:
            self.finish(process)

    def test_late_writes_still_arrive(self):
        word = os.path.join(self.directory.name, "words")
        both = [self.start("simgpu_probe_job", "pingpong", word, side, 20, SIMGPU_FAULT="delayed_writes_us:3000")
                for side in (0, 1)]
        for process in both:
            self.finish(process)

    def test_a_killed_neighbour_gives_its_share_and_memory_back(self):
        victim = self.start_victim()
        beside, used = self.run_probe("simgpu_probe_job", "kernel", 20_000_000).split()
        self.assertGreaterEqual(float(beside), 36.0)  # ms, of 40: each has half of the GPU
        self.assertGreaterEqual(int(used), 1 << 30)
        waiting = self.start("simgpu_probe_job", "kernel", 400_000_000)
        time.sleep(0.2)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        elapsed, used = self.finish(waiting)[0].split()
        self.assertLess(float(elapsed), 800.0)  # ms; it would take that long beside the other
        self.assertEqual(int(used), 0)

    def test_kills_at_any_instant_harm_no_other(self):
        for round_number in range(8):
            hammers = [self.start("simgpu_probe_job", "hammer", machine="1x1,launch_us=0") for _ in range(3)]
            for hammer in hammers:
                self.assertEqual(hammer.stdout.readline(), "running\n")
            time.sleep(0.0037 * round_number)  # another instant each time; the test waits for nothing here
            for hammer in hammers:
                hammer.kill()
            _, used = self.run_probe("simgpu_probe_job", "kernel", 1_000_000, machine="1x1,launch_us=0").split()
            for hammer in hammers:
                hammer.communicate()
            self.assertEqual(int(used), 0)

    def test_no_driver_after_fork(self):
        self.run_probe("simgpu_probe_job", "fork")

    def test_visible_devices(self):
        uuid = "GPU-00000000-0000-0000-0000-000000000001"
        self.run_probe("simgpu_probe_job", "kernel", 1000, machine="1x2", CUDA_VISIBLE_DEVICES=uuid)
        self.finish(self.start("simgpu_probe_job", "kernel", 1000, CUDA_VISIBLE_DEVICES=""), code=1)

    def test_bad_machines_are_named(self):
        for machine, text in (("3", "SIMGPU_MACHINE: expected <nodes>x<gpus>, "),
                              ("1x1,mode=fast", "mode: expected mps or timeslice, got fast")):
            _, err = self.finish(self.start("simgpu_probe_job", "kernel", 1, machine=machine), code=1)
            self.assertIn(text, err)

    def test_events_are_shared_between_processes(self):
        self.assertEqual(self.run_probe("simgpu_probe_ipc"), "shared\n")

    def test_a_live_machine_keeps_its_shape(self):
        victim = self.start_victim()
        _, err = self.finish(self.start("simgpu_probe_job", "kernel", 1, machine="1x2"), code=1)
        self.assertIn("in use by a machine of another shape", err)
        self.end(victim)
        self.run_probe("simgpu_probe_job", "kernel", 1, machine="1x2")

    @unittest.skipUnless(os.path.exists(os.path.join(PROBES, "simgpu_probe_nvml")), "built without nvml.h")
    def test_the_node_as_an_agent_sees_it(self):
        victim = self.start_victim()
        out = self.run_probe("simgpu_probe_nvml", os.path.join(self.directory.name, "state"))
        self.assertEqual(out.split(), ["1", "GPU-00000000-0000-0000-0000-000000000000", str(1 << 30),
                                       str(victim.pid), str(1 << 30), "0"])
        self.end(victim)
        exclusive = "1x1,compute_mode=exclusive_process"
        victim = self.start_victim(machine=exclusive)
        state = os.path.join(self.directory.name, "state")
        self.assertEqual(self.run_probe("simgpu_probe_nvml", state, machine=exclusive).split()[-1], "3")
        self.end(victim)
        victim = self.start_victim(machine="1x2", CUDA_VISIBLE_DEVICES="1")
        self.assertEqual(self.run_probe("simgpu_probe_nvml", state, machine="1x2").split()[0], "2")
        self.end(victim)

    def test_unsupported_memory_operations(self):
        word = os.path.join(self.directory.name, "words")
        process = self.start("simgpu_probe_job", "pingpong", word, 0, 2, SIMGPU_FAULT="memops_unsupported")
        self.assertIn("CUDA_ERROR_NOT_SUPPORTED", self.finish(process, code=1)[1])

    def run_jobs(self, machine, offset_ms, c_ms=20.0, m_ms=12.0, steps=20):
        """Runs two jobs freely. Returns [(compute begins, compute ends, collective has ended)] by step, in ms, for
        each."""
        start = time.monotonic_ns() + 1_000_000_000
        jobs = [self.start("simgpu_probe_job", "job", start + round(shift * 1e6), round(c_ms * 1e6),
                           round(m_ms * 1e6), steps, machine=f"1x1,{machine}") for shift in (0, offset_ms)]
        logs = [[tuple(int(word) / 1e6 for word in line.split()) for line in self.finish(job)[0].splitlines()]
                for job in jobs]
        self.assertEqual([len(log) for log in logs], [steps, steps])
        return logs

    def expect_compute(self, logs, tolerance_ms, predict):
        """Asserts that three of four computes take what `predict` says. It gets how long the other job computed
        meanwhile, and how long its collective held SMs. All are times of the GPU: a busy machine changes when things
        happen, but not this relation, except for the few computes between whose kernels a thread is late. The jobs must
        have met."""
        met, wrong = 0.0, []
        for mine, other in (logs, logs[::-1]):
            for begin, end, _ in mine:
                beside = sum(overlap(begin, end, s, e) for s, e, _ in other)
                held = sum(overlap(begin, end, e, h) for _, e, h in other)
                met += beside
                wrong.append(end - begin - predict(beside, held))
        wrong.sort(key=abs)
        self.assertLess(abs(wrong[len(wrong) * 3 // 4]), tolerance_ms, wrong)
        self.assertGreater(met, 20.0)

    def test_free_running_jobs_that_share(self):
        """While both compute, each runs at one half. Beside a collective of 4 SMs it runs at 128/132. A step of equal
        jobs takes 2c + m - delta at an offset of delta."""
        for factor in 0.9, 1.0, 1.25:
            with self.subTest(co_run=factor):
                logs = self.run_jobs(f"mode=mps,co_run={factor}", 8.0)
                # The work c is the time alone, plus factor / 2 of the time beside compute and 128/132 of that
                # beside a collective.
                self.expect_compute(logs, 0.1, lambda beside, held, f=factor:
                                    20.0 + beside * (1 - f / 2) + held * 4 / 132)

    def test_free_running_jobs_that_take_slices(self):
        """The collective uses up time slices: whatever the other job does, it takes half of the GPU. No offset makes a
        step shorter than 2c + m. A difference of a slice depends on where the compute begins."""
        logs = self.run_jobs("mode=timeslice,quantum_us=500", 16.0)
        self.expect_compute(logs, 0.5, lambda beside, held: 20.0 + (beside + held) / 2)

    def test_kernels_of_two_processes_may_gain_by_running_at_once(self):
        for factor in 0.9, 1.0, 1.25, 1.4:
            with self.subTest(co_run=factor):
                self.assertAlmostEqual(self.beside_victim(20_000_000, f"1x1,co_run={factor}"), 40.0 / factor,
                                       delta=0.02)
        self.assertAlmostEqual(self.kernel(machine="1x1,co_run=1.4"), 20.0, delta=0.02)

    def test_a_collective_leaves_kernels_the_rest(self):
        collective = self.start("simgpu_probe_job", "collective")
        self.assertIn("running", collective.stdout.readline())
        self.assertAlmostEqual(self.kernel(), 20.0 * 132 / 128, delta=0.02)
        self.end(collective)

    def test_a_mix_of_kernels(self):
        """The victim's kernel is the first of its stream, and the timed kernel the second of its own. They do not slow
        each other where both ask for half of the GPU, or the second asks for no more than its share."""
        for mix, expected in (("50", 20.0), ("100 50", 20.0), ("50 100", 40.0), ("100", 40.0)):
            with self.subTest(kernel_mix=mix):
                self.assertAlmostEqual(self.beside_victim(20_000_000, f"1x1,kernel_mix={mix}"), expected, delta=0.02)

    def test_a_launch_asks_for_the_sms_that_its_blocks_fill(self):
        """132 blocks of 1024 threads fill 66 SMs, and 264 fill all. The kernel beside them has all SMs and gives
        way."""
        collective = "1x1,nccl_ctas=4"
        victim = self.start_victim(machine=collective)
        for blocks, expected in ((132, 20.0), (264, 40.0)):
            self.assertAlmostEqual(self.kernel(blocks, machine=collective), expected, delta=0.02)
        self.end(victim)

    def test_mps_limits_a_client_to_its_percentage(self):
        variable = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
        self.assertAlmostEqual(self.kernel(**{variable: "50"}), 40.0, delta=0.02)
        self.assertAlmostEqual(self.beside_victim(20_000_000, **{variable: "50"}), 40.0, delta=0.02)
        self.assertAlmostEqual(self.kernel(machine="1x1,mode=timeslice", **{variable: "50"}), 20.0, delta=0.02)
        for value, sms in (("50", "66"), ("100", "132")):
            self.assertEqual(self.run_probe("simgpu_probe_job", "sms", **{variable: value}).strip(), sms)
        out, err = self.finish(self.start("simgpu_probe_job", "kernel", 20_000_000, **{variable: "half"}))
        self.assertAlmostEqual(float(out.split()[0]), 20.0, delta=0.02)
        self.assertIn(f"environment: {variable}=half: expected a number above 0 and up to 100", err)

    def test_the_control_daemon_limits_clients_too(self):
        pipe, daemon, ask = self.start_mps(CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="25")

        def sms(percentage):
            limits = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": percentage} if percentage else {}
            return self.run_probe("simgpu_probe_job", "sms", CUDA_MPS_PIPE_DIRECTORY=pipe, **limits).strip()

        self.assertEqual(ask("get_default_active_thread_percentage"), "25.0\n")
        self.assertEqual([sms(""), sms("10"), sms("50")], ["33", "13", "33"])  # a client can only lower the limit
        self.assertEqual(ask("set_default_active_thread_percentage 0"), "25.0\n")
        self.assertEqual(ask("set_default_active_thread_percentage 75"), "75.0\n")
        self.assertEqual(sms(""), "33", "a server keeps the percentage that it started with")
        self.assertEqual(ask(f"set_active_thread_percentage {ask('get_server_list').strip()} 50"), "")
        self.assertEqual(sms(""), "66")
        server = ask("get_server_list").strip()
        self.assertEqual(ask(f"get_server_status {server}"), "ACTIVE\n")

        def refusal():
            return self.finish(self.start("simgpu_probe_job", "sms", CUDA_MPS_PIPE_DIRECTORY=pipe), code=1)[1]

        self.assertEqual(ask(f"simgpu_fault {server}"), "")
        self.assertEqual(ask(f"get_server_status {server}"), "FAULT\n")
        self.assertIn("CUDA_ERROR_MPS_SERVER_NOT_READY", refusal())
        self.assertEqual(ask(f"simgpu_recover {server}"), "")
        self.assertEqual(sms(""), "66")
        self.assertEqual(ask("simgpu_servers fail"), "")
        os.kill(int(server), signal.SIGKILL)
        while ask("get_server_list"):
            time.sleep(0.01)
        self.assertIn("CUDA_ERROR_MPS_CONNECTION_FAILED", refusal())
        self.assertEqual(ask("start_server -uid 0"), "Failed to start server\n")
        self.assertEqual(ask("simgpu_servers start"), "")
        self.assertEqual(sms(""), "99", "a new server has the percentage of now")
        daemon.kill()
        daemon.wait()
        self.assertTrue(os.path.exists(os.path.join(pipe, "control")))
        self.assertEqual(sms(""), "132", "a socket that was left behind is no daemon")

    def test_collectives_may_wait_for_their_sms(self):
        """Beside a kernel that has the whole GPU and never ends, a collective begins at once or never."""
        for start, waits in (("at_once", False), ("when_free", True)):
            with self.subTest(collective_start=start):
                machine = f"1x2,collective_start={start}"
                victim = self.start_victim(machine=machine)
                collective = self.start("simgpu_probe_job", "collective", machine=machine)
                self.assertEqual(collective.stderr.readline(), "queued\n")
                self.kernel(machine=machine, CUDA_VISIBLE_DEVICES="1")  # 20 ms of another GPU
                if not waits:
                    began = int(collective.stdout.readline().split()[1])
                killed = time.monotonic_ns()
                self.end(victim)
                if waits:
                    began = int(collective.stdout.readline().split()[1])
                self.assertEqual(began >= killed, waits)
                self.end(collective)

    def test_collectives_may_lose_speed_beside_kernels(self):
        for slowdown in 0, 1:
            with self.subTest(collective_slowdown=slowdown):
                machine = f"1x1,collective_slowdown={slowdown}"
                victim = self.start_victim(machine=machine)
                took = float(self.run_probe("simgpu_probe_job", "short_collective", machine=machine).split()[-1])
                self.assertGreaterEqual(took, 5.0 * (1 + slowdown) - 0.01)
                self.end(victim)


def overlap(begin, end, other_begin, other_end):
    return max(0.0, min(end, other_end) - max(begin, other_begin))


if __name__ == "__main__":
    unittest.main()
