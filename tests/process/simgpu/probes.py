"""Starts the probe programs of these tests on software GPUs of their own.

The first two arguments of a test are the directories of the probe programs and of the libraries; this sets SIMGPU_* and
LD_LIBRARY_PATH.
"""

import os
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

    def start(self, probe, *arguments, machine=None, user=None, **environment):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("SIMGPU_", "CUDA_"))}
        env.update(
            LD_LIBRARY_PATH=LIBRARIES,
            SIMGPU_MACHINE=f"{machine or self.machine},state={self.directory.name}/state",
            **environment,
        )
        return subprocess.Popen(
            [os.path.join(PROBES, probe), *map(str, arguments)],
            env=env, user=user, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, code=0):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def end(self, process):
        process.kill()
        process.communicate()

    def run_probe(self, *arguments, **options):
        return self.finish(self.start(*arguments, **options))[0]

    def start_victim(self, **options):
        """Starts a process whose kernel has the whole GPU and never ends. Returns it when the kernel has begun."""
        victim = self.start("simgpu_probe_job", "victim", **options)
        self.assertRegex(victim.stdout.readline(), "^running ")
        return victim

    def beside_victim(self, ns, machine="1x1", **environment):
        """Returns the time in ms, by the GPU's clock, of a kernel of `ns` beside one that never ends."""
        victim = self.start_victim(machine=machine)
        beside, _ = self.run_probe("simgpu_probe_job", "kernel", ns, machine=machine, **environment).split()
        self.end(victim)
        return float(beside)

    def kernel(self, *arguments, machine="1x1", **environment):
        out = self.run_probe("simgpu_probe_job", "kernel", 20_000_000, *arguments, machine=machine, **environment)
        return float(out.split()[0])

    def start_mps(self, stdout=subprocess.DEVNULL, **environment):
        """Starts a control daemon. Returns (its directory, its process, a function that sends it a line)."""
        pipe = os.path.join(self.directory.name, "pipe")
        os.mkdir(pipe)
        control = os.path.join(PROBES, "nvidia-cuda-mps-control")
        environment = {**os.environ, "CUDA_MPS_PIPE_DIRECTORY": pipe, **environment}
        daemon = subprocess.Popen([control, "-f"], env=environment, stdout=stdout, text=True)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        while not os.path.exists(os.path.join(pipe, "nvidia-cuda-mps-control.pid")):
            self.assertIsNone(daemon.poll())
            time.sleep(0.01)

        def ask(line):
            return subprocess.run([control], env=environment, input=line + "\n", capture_output=True, text=True,
                                  check=True).stdout

        return pipe, daemon, ask
