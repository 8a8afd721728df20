"""Tests whole processes with libcrossover.so preloaded: what they look up, what they run, and what is recorded of
them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from testing import logs
from testing.ports import free_port
from testing.recorded import calls, without_one

LIBRARY = os.environ.get("LIBRARY", "")
SIMGPU = os.environ.get("SIMGPU_LIBRARIES", "")
BIN = Path(os.environ.get("BIN", ""))


def run(command, check=True, **environment):
    """Runs a command to its end and returns the finished process. `environment` adds to a small one."""
    small = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
    done = subprocess.run(command, env={**small, **environment}, capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done


class Inert(unittest.TestCase):
    """Processes that have nothing to do with GPUs must not notice the library."""

    COMMANDS = (["bash", "-c", "echo $((6 * 7)); ls / | wc -l > /dev/null; (exit 3) || true"],
                [sys.executable, "-c", "import ctypes, json, subprocess; "
                                       "print(subprocess.run(['echo', 'x'], capture_output=True).stdout)"])

    def test_output_and_status_are_the_same(self):
        for command in self.COMMANDS:
            plain = run(command)
            for gang in ({}, {"CROSSOVER_GANG": "a"}, {"CROSSOVER_GANG": "a", "CROSSOVER_DISABLE": "1"}):
                preloaded = run(command, LD_PRELOAD=LIBRARY, **gang)
                self.assertEqual((plain.stdout, plain.stderr), (preloaded.stdout, preloaded.stderr), gang)

    def test_malformed_environment_is_one_line_and_no_harm(self):
        done = run([os.environ["LOOKUPS"], "nccl", os.environ["NCCL_USER"]], LD_PRELOAD=LIBRARY,
                   LD_LIBRARY_PATH=os.environ["FAKE_NCCL"], CROSSOVER_GANG="a", CROSSOVER_GATES="maybe")
        self.assertRegex(done.stderr,
                         r"\Acrossover: CROSSOVER_GATES: expected gpu, ipc, relay or host, got maybe; .*\n\Z")

    def test_gccs_address_sanitizer_wants_to_be_told_not_to_look_for_its_place(self):
        if "SANITIZED" not in os.environ:
            self.skipTest("not compiled with GCC")
        program, told = os.environ["SANITIZED"], {"LD_PRELOAD": LIBRARY, "ASAN_OPTIONS": "verify_asan_link_order=0"}
        run([program])
        refused = run([program], check=False, LD_PRELOAD=LIBRARY)
        self.assertIn("ASan runtime does not come first in initial library list", refused.stderr)
        self.assertEqual(refused.returncode, 1)
        run([program], **told)
        self.assertIn("heap-use-after-free", run([program, "1"], check=False, **told).stderr, "it works then")


def answers(*arguments, preload=(LIBRARY,), **environment):
    """Returns {question: answer} of the look-up program."""
    done = run([os.environ["LOOKUPS"], *arguments], LD_PRELOAD=":".join(preload), **environment)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


class Lookups(unittest.TestCase):

    def setUp(self):
        self.gang = {"CROSSOVER_GANG": "a", "SIMGPU_MACHINE": "1x1"}

    def need_simgpu(self):
        if not (Path(SIMGPU) / "libcuda.so.1").exists():
            self.fail("no libcuda.so.1 of the software GPU was built")
        self.gang["LD_LIBRARY_PATH"] = SIMGPU

    def test_proc_address_gives_the_exact_version_and_flavour(self):
        self.need_simgpu()
        plain = answers("proc-address", preload=(), **self.gang)
        hooked = answers("proc-address", **self.gang)
        self.assertGreater(sum(answer == "libcuda" for answer in plain.values()), 20)
        for symbol, answer in plain.items():
            expected = answer
            if answer == "libcuda" and symbol not in ("cuMemHostAlloc", "cuInit"):
                expected = "libcrossover"
            self.assertEqual(hooked[symbol], expected, symbol)

    def test_without_a_gang_nothing_is_replaced(self):
        self.need_simgpu()
        del self.gang["CROSSOVER_GANG"]
        self.assertEqual(answers("scopes", **self.gang)["default"], "none")
        nccl = answers("nccl", os.environ["NCCL_USER"], **{**self.gang, "LD_LIBRARY_PATH": os.environ["FAKE_NCCL"]})
        self.assertEqual(nccl["dlsym-start"], "libnccl")

    def test_names_are_not_found_before_their_library(self):
        self.need_simgpu()
        self.assertEqual(answers("scopes", **self.gang),
                         {"default": "none", "main": "none", "default-after": "libcrossover",
                          "missing": "error-is-kept"})

    def test_nccl_that_is_loaded_locally(self):
        found = answers("nccl", os.environ["NCCL_USER"], LD_LIBRARY_PATH=os.environ["FAKE_NCCL"], **self.gang)
        self.assertEqual(found, {"call_group_start": "41", "call_group_end": "42", "call_get_version": "43",
                                 "dlsym-start": "libcrossover", "dlsym-version": "libnccl"})

    def files_of_nccl(self, count, **options):
        """Returns what is found in `count` files of NCCL, each opened by its path. Those from the third on are
        copies."""
        paths = [Path(os.environ[name]) / "libnccl.so.2" for name in ("FAKE_NCCL", "OTHER_NCCL")]
        with tempfile.TemporaryDirectory() as directory:
            for copy in range(2, count):
                paths.append(Path(directory) / str(copy) / "libnccl.so.2")
                paths[-1].parent.mkdir()
                shutil.copy(paths[copy % 2], paths[-1])
            return answers("several-nccls", os.environ["NCCL_USER"], *map(str, paths[:count]),
                           LD_LIBRARY_PATH=os.environ["FAKE_NCCL"], **options, **self.gang)

    def test_several_files_of_nccl_are_told_apart(self):
        count = 5
        plain = self.files_of_nccl(count, preload=())
        self.assertEqual(plain["1-ncclGroupEnd"], "libnccl 142")
        hooked = self.files_of_nccl(count)
        for i in range(count):
            # The first three have wrappers of their own, which call the profiling twins. The rest are left alone.
            owner, start = ("libcrossover", 41) if i < 3 else ("libnccl", 40)
            other = 100 * (i % 2)
            found = [hooked.pop(f"{i}-{name}") for name in ("ncclGroupStart", "ncclGroupEnd", "ncclGetVersion")]
            self.assertEqual(found,
                             [f"{owner} {start + other}", f"{owner} {42 + other}", f"libnccl {43 + other}"], i)
        self.assertEqual(hooked, {"linked": "41"})

    def test_a_library_that_is_closed_and_opened_again(self):
        self.gang["LD_LIBRARY_PATH"] = os.environ["FAKE_NCCL"]
        expected = {"before": "42", "meanwhile": "gone", "after": "42"}
        self.assertEqual(answers("reload", preload=(), **self.gang), expected)
        # A library that our wrappers call is never unmapped.
        self.assertEqual(answers("reload", **self.gang), {**expected, "meanwhile": "there"})

    def test_a_stub_of_the_driver_beside_the_driver(self):
        """Each function answers as without the library, whichever file was loaded first."""
        self.need_simgpu()
        stub, driver = os.environ["STUB_CUDA"], f"{SIMGPU}/libcuda.so.1"
        for order in ((stub, driver), (driver, stub)):
            plain = answers("several-drivers", *order, preload=(), **self.gang)
            of_driver = f"-{order.index(driver)}"
            self.assertEqual({answer.split()[1] for question, answer in plain.items()
                              if not question.endswith(of_driver)}, {"34"}, "the stub's answer")
            expected = {question: answer.replace("libcuda", "libcrossover") if question.endswith(of_driver) else answer
                        for question, answer in plain.items()}
            self.assertEqual(answers("several-drivers", *order, **self.gang), expected)

    def test_next_in_line_stays_what_it_is(self):
        other = os.environ["NEXT_IN_LINE"]
        for order in ((LIBRARY, other), (other, LIBRARY)):
            said = answers("getppid", preload=order, **self.gang)["getppid"]
            self.assertEqual(said, f"{os.getpid()}7")

    def test_real_cuda_runtime_starts_as_without_the_library(self):
        self.need_simgpu()
        runtime = os.environ["CUDA_RUNTIME"]
        if not Path(runtime).exists():
            self.fail("no libcudart.so.13")
        plain = answers("runtime", runtime, preload=(), **self.gang)
        hooked = answers("runtime", runtime, **self.gang)
        if plain["entry-point"] == "libcuda":
            plain["entry-point"] = "libcrossover"
        self.assertEqual(hooked, plain)

    def test_portable_libraries_load_everywhere(self):
        libraries = sorted(Path(os.environ["PORTABLE"]).glob("*/libcrossover*.so"))
        if not libraries:
            self.skipTest("crossover_portable was not built")
        for library in libraries:
            run([os.environ["CHECK_SYMBOLS"], str(library)])


class Machine:
    """A Machine is a software machine of one node with two GPUs. It has an arbiter where asked for, and runs jobs of
    two ranks.
    """

    def __init__(self, test, arbiter=True, arbiter_options=(), mode="mps"):
        self.directory = Path(test.enterContext(tempfile.TemporaryDirectory()) if hasattr(test, "enterContext")
                              else _directory(test))
        self.socket = self.directory / "arbiter.sock"
        self.trace = self.directory / "trace.jsonl"
        config = self.directory / "machine.yaml"
        config.write_text(f"state: {self.directory}/state\nmode: {mode}\nnode_link_bytes_per_s: 8e6\n"
                          "gpu_link_bytes_per_s: 1.1e7\nnodes:\n  - name: node0\n    gpus: 2\n")
        self.environment = {"PATH": os.environ["PATH"], "SIMGPU_CONFIG": str(config), "LD_LIBRARY_PATH": SIMGPU}
        self.arbiter = None
        self._begin = time.monotonic(), _waited_for_cores_s()
        if arbiter:
            self.start_arbiter(test, arbiter_options)

    def start_arbiter(self, test, options):
        command = [BIN / "crossover-arbiter", "--socket", self.socket, "--trace", self.trace, *options]
        self.arbiter = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        test.addCleanup(_end, self.arbiter)
        for line in self.arbiter.stderr:
            if "listening" in line:
                return
        test.fail("the arbiter ended before it listened")

    def start(self, job, library=LIBRARY, options=(), record=None, program="trainer", **extra):
        """Starts both ranks of a job and returns their processes."""
        port = free_port()
        ranks = []
        for rank in ("0", "1"):
            environment = {**self.environment, "RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2",
                           "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **extra}
            if library:
                environment.update(LD_PRELOAD=library, CROSSOVER_GANG=job, CROSSOVER_GANG_SIZE="2",
                                   CROSSOVER_SOCKET=str(self.socket))
            if record:
                environment.update(CROSSOVER_TEST_RECORD=str(self.directory / record),
                                   CROSSOVER_TEST_CUDA=f"{SIMGPU}/libcuda.so.1",
                                   LD_LIBRARY_PATH=f"{os.environ['RECORDER']}:{SIMGPU}")
            command = [BIN / program, "--compute-ms=10", "--gradient-bytes=65536", "--seed=3",
                       f"--log={self.directory}/{job}{rank}.log", *options]
            ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE, text=True))
        return ranks

    def finish(self, job, ranks):
        """Waits for a job. Returns rank 0's summary and what each rank wrote to standard error."""
        said = [rank.communicate(timeout=120)[1] for rank in ranks]
        for rank, text in zip(ranks, said):
            if rank.returncode != 0:
                raise AssertionError(f"{job} ended with {rank.returncode}: {text}")
        with open(self.directory / f"{job}0.log", encoding="utf-8") as log:
            summary = json.loads(log.readlines()[-1])["summary"]
        return summary, said

    def end(self, ranks):
        """Ends a job that would go on, as a launcher does. Returns what each rank wrote to standard error."""
        for rank in ranks:
            rank.terminate()
        return [rank.communicate(timeout=120)[1] for rank in ranks]

    def losses(self, job):
        """Returns the losses of rank 0 in all iterations that were done when the job ended. The last one may have been
        under way."""
        with open(self.directory / f"{job}0.log", encoding="utf-8") as log:
            return [line["loss"] for line in map(json.loads, log) if "iteration" in line][:-1]

    def events(self):
        if not self.trace.exists():
            return []
        return list(logs.objects_in(self.trace.read_text().splitlines()))

    def assert_watchdog_opened_none(self, test, seldom=False):
        """Asserts that the watchdog opened no gate. `seldom`: it may, once in a while, to break up two GPUs that wait
        for each other. So it may where processes of this computer wait for a core most of the time."""
        kinds = [event["event"] for event in self.events()]
        begin_s, waited_s = self._begin
        busy = (_waited_for_cores_s() - waited_s) / (time.monotonic() - begin_s)
        allowed = kinds.count("hold") // 20 if seldom or busy > 0.6 else 0
        test.assertLessEqual(kinds.count("open"), allowed,
                             f"the watchdog had to open gates in {kinds.count('hold')} turns, and processes waited for "
                             f"cores {busy:.0%} of the time")


def run_beside(test, iterations, options=(), beside=(), programs=("trainer", "trainer"), **extra):
    """Runs a job, and another one with the options `beside` for twice as long, with the real arbiter. Asserts that the
    first job's losses are those without the library, and that the watchdog opens no gate. Returns (turns of the first,
    the library's lines in the first, its lines in the other)."""
    machine = Machine(test)
    options, beside = (f"--iterations={iterations}", *options), (f"--iterations={2 * iterations}", *beside)
    alone, _ = machine.finish("s", machine.start("s", library=None, options=options, program=programs[0]))
    other = machine.start("b", options=beside, program=programs[1], **extra)
    summary, said = machine.finish("a", machine.start("a", options=options, program=programs[0], **extra))
    _, said_by_other = machine.finish("b", other)
    test.assertEqual(summary["losses_digest"], alone["losses_digest"])
    machine.assert_watchdog_opened_none(test)
    turns = sum(event["event"] == "hold" and event["gang"] == "a" for event in machine.events())
    return turns, said_by_library(said), said_by_library(said_by_other)


def _waited_for_cores_s():
    """Returns how long some process has waited for a core, since the computer was started."""
    with open("/proc/pressure/cpu", encoding="ascii") as pressure:
        return int(pressure.readline().rpartition("total=")[2]) / 1e6


def _directory(test):
    directory = tempfile.TemporaryDirectory()
    test.addCleanup(directory.cleanup)
    return directory.name


def _end(process):
    process.kill()
    process.wait()
    process.stderr.close()


class Turns(unittest.TestCase):
    """Runs two trainers on two software GPUs, with the real arbiter."""

    def test_two_jobs_take_turns_and_learn_the_same(self):
        for variant in ("plain", "broadcast_buffers", "loss_allreduce"):
            with self.subTest(variant=variant):
                machine = Machine(self)
                options = ("--iterations=100", f"--variant={variant}")
                alone, _ = machine.finish("s", machine.start("s", library=None, options=options))
                jobs = {name: machine.start(name, options=options) for name in ("a", "b")}
                for name, ranks in jobs.items():
                    summary, said = machine.finish(name, ranks)
                    self.assertEqual(summary["losses_digest"], alone["losses_digest"])
                    self.assertEqual(said_by_library(said), "")
                events = [event["event"] for event in machine.events()]
                self.assertGreater(events.count("hold"), 20, "turns were taken")

    def test_host_gates_take_turns_too(self):
        machine = Machine(self)
        jobs = {name: machine.start(name, options=("--iterations=100",), CROSSOVER_GATES="host") for name in "ab"}
        for name, ranks in jobs.items():
            machine.finish(name, ranks)
        self.assertGreater([event["event"] for event in machine.events()].count("hold"), 20)

    def test_in_time_slices_turns_last_and_gpus_do_not_wait_for_each_other(self):
        machine = Machine(self, mode="timeslice")
        options = ("--iterations=60",)
        alone, _ = machine.finish("s", machine.start("s", library=None, options=options))
        pause = machine.directory / "pause"
        jobs = {"a": machine.start("a", options=(*options, f"--pause-file={pause}")),
                "b": machine.start("b", options=options)}
        await_event(machine, "hold", 10)
        pause.touch()
        await_event(machine, "hold", 20)
        pause.unlink()
        for name, ranks in jobs.items():
            summary, said = machine.finish(name, ranks)
            self.assertEqual(summary["losses_digest"], alone["losses_digest"])
            self.assertEqual(said_by_library(said), "")
        machine.assert_watchdog_opened_none(self, seldom=True)

    def test_without_an_arbiter_everything_passes_and_one_line_says_so(self):
        machine = Machine(self, arbiter=False)
        alone, _ = machine.finish("s", machine.start("s", library=None, options=("--iterations=10",)))
        summary, said = machine.finish("a", machine.start("a", options=("--iterations=10",)))
        self.assertEqual(summary["losses_digest"], alone["losses_digest"])
        for text in said:
            self.assertEqual(len(re.findall(r"^crossover: no arbiter at its socket", text, re.M)), 1, text)

    def test_a_killed_arbiter_is_survived(self):
        machine = Machine(self)
        jobs = {name: machine.start(name, options=("--iterations=80",)) for name in ("a", "b")}
        await_event(machine, "hold", 20)
        machine.arbiter.send_signal(signal.SIGKILL)
        for name, ranks in jobs.items():
            _, said = machine.finish(name, ranks)
            self.assertIn("the arbiter is lost", said_by_library(said))

    def test_a_job_that_pauses_in_its_turn_lets_the_other_run(self):
        machine = Machine(self, arbiter_options=("--watchdog-floor-ms", "20000"))
        pause = machine.directory / "pause"
        jobs = {"a": machine.start("a", options=("--iterations=60", f"--pause-file={pause}")),
                "b": machine.start("b", options=("--iterations=120",))}
        await_event(machine, "hold", 20)
        pause.touch()
        machine.finish("b", jobs["b"])
        pause.unlink()
        machine.finish("a", jobs["a"])
        machine.assert_watchdog_opened_none(self)

    def test_a_killed_job_does_not_hold_the_other_up(self):
        machine = Machine(self)
        jobs = {name: machine.start(name, options=("--iterations=80",)) for name in ("a", "b")}
        await_event(machine, "hold", 20)
        for rank in jobs["b"]:
            rank.kill()
            rank.communicate()
        machine.finish("a", jobs["a"])


def await_event(machine, kind, count):
    """Blocks until the arbiter has traced this many events. The test's own timeout bounds it."""
    pause = subprocess.Popen(["tail", "-n", "+1", "--retry", "-F", machine.trace], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    seen = 0
    for line in pause.stdout:
        seen += f'"event":"{kind}"' in line.replace(" ", "")
        if seen >= count:
            break
    pause.kill()
    pause.wait()
    pause.stdout.close()


def said_by_library(said):
    return "\n".join(line for text in said for line in text.splitlines() if line.startswith("crossover:"))


class Recorded(unittest.TestCase):
    """Compares what reaches the driver with the library and without."""

    OPTIONS = ("--iterations=30", "--variant=broadcast_buffers")

    def record(self, machine, job, library, options=OPTIONS, program="trainer"):
        machine.finish(job, machine.start(job, library=library, options=options, record=f"{job}.calls.",
                                          program=program))
        return machine.directory / f"{job}.calls.0"

    def test_the_users_own_calls_are_the_same_and_in_the_same_order(self):
        machine = Machine(self)
        plain = calls(self.record(machine, "s", None), "user")
        self.assertGreater(len(plain), 1000)
        other = machine.start("b", options=("--iterations=200", "--variant=broadcast_buffers"))
        await_event(machine, "join", 2)
        record = self.record(machine, "a", LIBRARY)
        machine.finish("b", other)
        self.assertEqual(calls(record, "user"), plain)
        ours = calls(record, "ours")
        self.assertGreater(sum(call.startswith("cuStreamBatchMemOp_v2") for call in ours), 10, "turns were taken")

    def test_nor_is_anything_added_to_an_nccl_that_is_linked_in(self):
        """NCCL's calls count as the program's own. The number of buffers that it makes, each of pinned memory and an
        event, and those it waits for at its end, depend on the time."""
        def functions(record, whose="user"):
            buffers = ("cuEventCreate", "cuMemHostAlloc")
            names = [call.split()[0] for call in calls(record, whose) if not call.startswith(buffers)]
            launches = [i for i, name in enumerate(names) if name.startswith("cuLaunchKernel")]
            return names[:launches[-1]] if launches else names

        machine = Machine(self)
        program = "trainer_static_nccl"
        plain = functions(self.record(machine, "s", None, program=program))
        self.assertGreater(len(plain), 1000)
        other = machine.start("b", options=("--iterations=200", "--variant=broadcast_buffers"), program=program)
        await_event(machine, "join", 2)
        record = self.record(machine, "a", LIBRARY, program=program)
        machine.finish("b", other)
        self.assertEqual(functions(record), plain)
        self.assertGreater(functions(record, "ours").count("cuStreamBatchMemOp_v2"), 10, "turns were taken")

    def test_a_call_left_out_would_be_seen(self):
        machine = Machine(self, arbiter=False)
        record = self.record(machine, "s", None, ("--iterations=10",))
        plain = calls(record, "user")
        self.assertNotEqual(without_one(record), plain)


if __name__ == "__main__":
    unittest.main()
