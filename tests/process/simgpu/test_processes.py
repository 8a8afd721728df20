"""Separate processes on one software GPU: sharing, hand-over of words, death, limits.

Called with the directory of the probe programs; SIMGPU_* and LD_LIBRARY_PATH are set here.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

PROBES = sys.argv.pop(1)
LIBRARIES = sys.argv.pop(1)


class ProcessTest(unittest.TestCase):
    machine = "1x1"

    def setUp(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.TemporaryDirectory(prefix="simgpu-test-", dir=base)
        self.addCleanup(self.directory.cleanup)

    def start(self, probe, *arguments, machine=None, **environment):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("SIMGPU_", "CUDA_"))}
        env.update(
            LD_LIBRARY_PATH=LIBRARIES,
            SIMGPU_MACHINE=f"{machine or self.machine},state={self.directory.name}/state",
            **environment,
        )
        return subprocess.Popen(
            [os.path.join(PROBES, probe), *map(str, arguments)],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, code=0):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def run_probe(self, *arguments, **options):
        return self.finish(self.start(*arguments, **options))[0]

    def test_linked_program(self):
        for mode in "mps", "timeslice":
            with self.subTest(mode=mode):
                self.run_probe("simgpu_probe_api", machine=f"1x1,mode={mode}")

    def test_looked_up_functions(self):
        self.run_probe("simgpu_probe_lookup")

    def test_small_launch_queue(self):
        self.run_probe("simgpu_probe_api", machine="1x1,queue_depth=8")

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
        victim = self.start("simgpu_probe_job", "victim")
        self.assertEqual(victim.stdout.readline(), "running\n")
        beside, used = self.run_probe("simgpu_probe_job", "kernel", 20_000_000).split()
        self.assertGreaterEqual(float(beside), 40.0)  # half of the GPU each
        self.assertGreaterEqual(int(used), 1 << 30)
        waiting = self.start("simgpu_probe_job", "kernel", 400_000_000)
        time.sleep(0.2)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        elapsed, used = self.finish(waiting)[0].split()
        self.assertLess(float(elapsed), 800.0)  # what it would take to the end beside the other
        self.assertEqual(int(used), 0)

    def test_kills_at_any_instant_harm_nobody(self):
        for round_number in range(8):
            hammers = [self.start("simgpu_probe_job", "hammer", machine="1x1,launch_us=0") for _ in range(3)]
            for hammer in hammers:
                self.assertEqual(hammer.stdout.readline(), "running\n")
            time.sleep(0.0037 * round_number)  # another instant each time; nothing waits for it
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
        for machine, text in (("3", "SIMGPU_MACHINE: '3'"), ("1x1,mode=fast", "mode: 'fast' is neither")):
            _, err = self.finish(self.start("simgpu_probe_job", "kernel", 1, machine=machine), code=1)
            self.assertIn(text, err)

    def test_a_live_machine_keeps_its_shape(self):
        victim = self.start("simgpu_probe_job", "victim")
        self.assertEqual(victim.stdout.readline(), "running\n")
        _, err = self.finish(self.start("simgpu_probe_job", "kernel", 1, machine="1x2"), code=1)
        self.assertIn("in use by a machine of another shape", err)
        victim.kill()
        victim.communicate()
        self.run_probe("simgpu_probe_job", "kernel", 1, machine="1x2")

    @unittest.skipUnless(os.path.exists(os.path.join(PROBES, "simgpu_probe_nvml")), "built without nvml.h")
    def test_the_node_as_an_agent_sees_it(self):
        victim = self.start("simgpu_probe_job", "victim")
        self.assertEqual(victim.stdout.readline(), "running\n")
        out = self.run_probe("simgpu_probe_nvml", os.path.join(self.directory.name, "state"))
        self.assertEqual(out.split(), ["1", "GPU-00000000-0000-0000-0000-000000000000", str(1 << 30),
                                       str(victim.pid), str(1 << 30)])
        victim.kill()
        victim.communicate()

    def test_unsupported_memory_operations(self):
        word = os.path.join(self.directory.name, "words")
        process = self.start("simgpu_probe_job", "pingpong", word, 0, 2, SIMGPU_FAULT="memops_unsupported")
        self.assertIn("CUDA_ERROR_NOT_SUPPORTED", self.finish(process, code=1)[1])

    def run_jobs(self, mode, offset_ms, c_ms=20.0, m_ms=12.0, steps=20):
        start = time.monotonic_ns() + 1_000_000_000
        jobs = [self.start("simgpu_probe_job", "job", start + round(shift * 1e6), round(c_ms * 1e6),
                           round(m_ms * 1e6), steps, machine=f"1x1,mode={mode}") for shift in (0, offset_ms)]
        starts = [[int(line) / 1e6 for line in self.finish(job)[0].split()] for job in jobs]
        self.assertEqual([len(times) for times in starts], [steps, steps])
        return starts

    def expect_ratio(self, tolerance, measure):
        """Of up to four runs one must agree with the formula: a busy machine spoils some, a wrong model all."""
        ratios = []
        while not ratios or (len(ratios) < 4 and abs(ratios[-1] - 1) > tolerance):
            ratios.append(measure())
        self.assertAlmostEqual(ratios[-1], 1.0, delta=tolerance, msg=f"all runs: {ratios}")

    def test_free_running_jobs_that_share(self):
        """A step of two equal jobs takes 2c + m - delta at an offset of delta <= m, whatever delta drifts to."""
        c, m = 20.0, 12.0

        def measure():
            first, second = self.run_jobs("mps", 8.0, c, m)
            ratios = []
            for i in range(2, len(first) - 1):
                offset = min(abs(other - first[i]) for other in second)
                ratios.append((first[i + 1] - first[i]) / (2 * c + m - min(offset, m)))
            return statistics.median(ratios)

        self.expect_ratio(0.10, measure)

    def test_free_running_jobs_that_take_slices(self):
        """The collective burns slices: no offset makes a step shorter than 2c + m."""
        c, m = 20.0, 12.0

        def measure():
            first, _ = self.run_jobs("timeslice", 16.0, c, m)
            return statistics.median(b - a for a, b in zip(first[2:-4], first[3:-4])) / (2 * c + m)

        self.expect_ratio(0.12, measure)


if __name__ == "__main__":
    unittest.main()
