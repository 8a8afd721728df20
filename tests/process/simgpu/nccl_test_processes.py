"""Tests jobs of several ranks, each a process: correct results, failures that reach all ranks, shaped links.

It is called with the rank program and the directory of the libraries.
"""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

from lateness import lateness_us

RANK = sys.argv.pop(1)
LIBRARIES = sys.argv.pop(1)

NODE_LINK = 8e6
# A run that takes too long is void if its threads were later than this at p99. One test may have so many void runs.
MOST_LATE_US = 1000
MOST_VOID_RUNS = 3
SUCCESS, UNHANDLED_CUDA_ERROR, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, IN_PROGRESS = 0, 1, 4, 5, 6, 7
ILLEGAL_ADDRESS = "700"  # of CUDA
SIGKILLED = -9


class Result:
    """Holds the exit code of one rank and the facts that it printed, by name."""

    def __init__(self, process):
        out, self.err = process.communicate(timeout=60)
        self.code = process.returncode
        self.facts = dict(line.split(" ", 1) for line in out.splitlines())

    def __getitem__(self, name):
        return self.facts[name]


class NcclTest(unittest.TestCase):
    def setUp(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        directory = tempfile.TemporaryDirectory(prefix="simgpu-test-", dir=base)
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def environment(self, nodes, gpus, sharing="shared", hollow="off"):
        config = os.path.join(self.directory, "machine.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"state: {self.directory}/state\nnode_link_bytes_per_s: {NODE_LINK}\n"
                       f"link_sharing: {sharing}\nhollow_collectives_from: {hollow}\nnodes:\n")
            for node in range(nodes):
                file.write(f"  - name: node{node}\n    gpus: {gpus}\n")
        env = {key: value for key, value in os.environ.items() if not key.startswith(("SIMGPU_", "CUDA_", "NCCL_"))}
        env.update(LD_LIBRARY_PATH=LIBRARIES, SIMGPU_CONFIG=config, NCCL_SOCKET_IFNAME="lo")
        return env

    def reporting(self, directory, sharing="shared", hollow="off"):
        """Returns the environment of four ranks that report in `directory` how late they were."""
        return dict(self.environment(2, 2, sharing, hollow), SIMGPU_REPORT=directory)

    def start(self, scenario, nodes=2, gpus=2, environment=None, ranks=None):
        """Starts a rank on every GPU. `ranks` adds to the environment of single ranks."""
        environment = environment or self.environment(nodes, gpus)
        identity = unique_id()
        processes = []
        for rank in range(nodes * gpus):
            env = dict(environment, SIMGPU_NODE=str(rank // gpus), CUDA_VISIBLE_DEVICES=str(rank % gpus))
            env.update((ranks or {}).get(rank, {}))
            processes.append(subprocess.Popen(
                [RANK, scenario, str(rank), str(nodes * gpus), identity],
                env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        for process in processes:
            self.addCleanup(process.kill)
        return processes

    def run_job(self, scenario, killed=(), **options):
        results = [Result(process) for process in self.start(scenario, **options)]
        for rank, result in enumerate(results):
            self.assertEqual(result.code, SIGKILLED if rank in killed else 0, result.err)
        return results

    def test_results(self):
        for nodes, gpus in (1, 2), (2, 2), (3, 1):
            with self.subTest(nodes=nodes, gpus=gpus):
                results = self.run_job("sums", nodes=nodes, gpus=gpus)
                for result in results:
                    self.assertEqual(result["wrong_sums"], "0")
                    self.assertEqual(result["digest"], results[0]["digest"])
                    for fact in "gathered", "scattered", "broadcast":
                        self.assertEqual(result[fact], "1", fact)
                self.assertEqual(results[0]["reduced"], str(10 * (nodes * gpus - 1)))

    def test_corrupted_byte_changes_the_result(self):
        good = self.run_job("sums")
        bad = self.run_job("sums", ranks={1: {"SIMGPU_NCCL_FAULT": "corrupt_byte:0"}})
        self.assertNotEqual(bad[0]["digest"], good[0]["digest"])
        self.assertEqual(bad[0]["wrong_sums"], "1")

    def test_groups_and_point_to_point(self):
        for result in self.run_job("group"):
            self.assertEqual((result["first"], result["second"], result["received"]), ("6", "60", "6"))

    def test_several_messages_for_one_rank_come_in_their_order(self):
        for result in self.run_job("twice"):
            self.assertEqual(result["both"], "1")

    def test_exchanges(self):
        for nodes, gpus in (1, 1), (1, 2), (2, 2):
            with self.subTest(nodes=nodes, gpus=gpus):
                for result in self.run_job("exchanges", nodes=nodes, gpus=gpus):
                    for fact in "transposed", "gathered", "scattered", "in_place":
                        self.assertEqual(result[fact], "1", fact)
                    self.assertEqual(result["sum"], str((1 << nodes * gpus) - 1))

    def test_refused_calls_name_what_is_wrong(self):
        for result in self.run_job("refused"):
            self.assertEqual(result["in_place"], "4 AlltoAll: expected a recvbuff other than sendbuff, because there "
                                                 "is no in-place form, got the same")
            self.assertEqual(result["root"], "4 Gather: root: expected a rank from 0 to 3, got 4")
            self.assertEqual(result["null"], "4 Scatter: sendbuff is null")
            self.assertEqual(result["stat"], "4 CommMemStats: stat: expected a value from 0 to 3, got 4")
            self.assertEqual((result["bytes"], result["after"]), ("0", "1"))

    def test_revoked_communicators_split(self):
        results = self.run_job("revoke")
        for result in results:
            self.assertEqual([int(result[fact]) for fact in ("state", "call", "twice", "finalize")],
                             [SUCCESS, INVALID_USAGE, INVALID_ARGUMENT, INVALID_USAGE])
        self.assertEqual([result["sum"] for result in results[:3]], ["7", "7", "7"])

    def test_grow(self):
        environment = dict(self.environment(2, 2), GROW_ID=os.path.join(self.directory, "grow-id"))
        results = self.run_job("grow", environment=environment)
        self.assertEqual([(r["rank"], r["sum"]) for r in results], [(str(rank), "15") for rank in range(4)])
        self.assertEqual((int(results[0]["fewer"]), int(results[0]["second"])), (INVALID_ARGUMENT, INVALID_USAGE))

    def test_graphs_run_the_ring_at_each_launch(self):
        for nodes, gpus in (1, 2), (2, 2):
            with self.subTest(nodes=nodes, gpus=gpus):
                for result in self.run_job("graphs", nodes=nodes, gpus=gpus):
                    for fact in "wrong_a", "wrong_b", "wrong_c":
                        self.assertEqual(result[fact], "0", fact)
                    self.assertEqual((result["transposed"], result["ended"]), ("1", "1"))
                    self.assertIn("a graph was launched after its communicator had gone", result.err)

    def test_corrupted_byte_of_a_launched_graph_changes_the_result(self):
        # The ring runs in the order of the host: an eager sum of `b`; then `a`, `b` and `c` by each of eight launches,
        # and an eager sum of `b` after every other. Numbers 26 and 28 are the last sums of `a` and `c`; 29 does not
        # exist. (A bit of an earlier sum could be shifted out by the later ones.)
        for number, wrong in (26, "100"), (28, "001"), (29, "000"):
            for result in self.run_job("graphs", ranks={1: {"SIMGPU_NCCL_FAULT": f"corrupt_byte:{number}"}}):
                self.assertEqual("".join(result["wrong_" + name] for name in "abc"), wrong, number)

    def test_ranks_of_one_graph_run_at_the_same_time(self):
        process = self.start("graphofall", nodes=1, gpus=1, environment=self.environment(1, 3),
                             ranks={0: {"CUDA_VISIBLE_DEVICES": "0,1,2"}})[0]
        result = Result(process)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual((result["gpus"], result["right"]), ("3", "3"))

    def joining(self, store):
        """Starts four ranks whose rank 0 leaves the unique ID in the file `store`. Returns (them, the file that ends
        them)."""
        stop = os.path.join(self.directory, store + "-stop")
        environment = dict(self.environment(2, 2), STORE=os.path.join(self.directory, store), STOP=stop)
        return self.start("join", environment=environment), stop

    def test_joins_after_killed_ranks(self):
        """Kills a rank as it joins, or behind the join; the job then starts anew, as under an elastic launcher."""
        for number in range(8):
            moment = "ready" if number % 2 == 0 else "joined"
            ranks, _ = self.joining(f"killed-{number}")
            victim = ranks[number // 2]
            for line in victim.stdout:
                if line.startswith(moment):
                    break
            victim.kill()
            if moment == "joined":
                # It had reached the others, so all of them learn of its death and end by themselves.
                for rank in ranks:
                    if rank is not victim:
                        self.assertEqual(Result(rank).code, 1)
            for rank in ranks:
                rank.kill()
                rank.communicate()
            ranks, stop = self.joining(f"started-{number}")
            with open(stop, "w", encoding="utf-8"):
                pass
            for rank in ranks:
                result = Result(rank)
                self.assertEqual(result.code, 0, result.err)
                self.assertEqual(result["sum"], "15")

    def test_an_id_of_an_earlier_start_is_named(self):
        """A launcher may keep its store: a rank then reads the old ID before rank 0 has written the new one."""
        ranks, _ = self.joining("kept")
        for rank in ranks:
            for line in rank.stdout:
                if line.startswith("joined"):
                    break
        for rank in ranks:
            rank.kill()
            rank.communicate()
        environment = dict(self.environment(2, 2), STORE=os.path.join(self.directory, "kept"), STOP="", SIMGPU_NODE="0",
                           CUDA_VISIBLE_DEVICES="1")
        late = subprocess.run([RANK, "join", "1", "4", "00" * 128], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(late.returncode, 1)
        self.assertIn("the id may be of an earlier start of the job", late.stderr)

    def test_calls_that_are_not_implemented_refuse_by_their_name(self):
        last_error = LIBRARY.ncclGetLastError
        last_error.restype = ctypes.c_char_p
        for name in ("CommResume", "CommShrink", "CommSuspend", "CommWindowRegister", "CommWindowDeregister",
                     "DevCommCreate", "GetLsaMultimemDevicePointer", "GetPeerDevicePointer", "GroupSimulateEnd",
                     "PutSignal", "RedOpCreatePreMulSum", "RedOpDestroy", "Signal", "WaitSignal", "WinGetUserPtr"):
            self.assertEqual(getattr(LIBRARY, "nccl" + name)(), INVALID_USAGE, name)
            self.assertEqual(last_error(None).decode(), f"{name}: this library does not have it")
        self.assertEqual(LIBRARY.ncclDevCommDestroy(None, None), SUCCESS)

    def test_mismatch_is_told_to_everybody(self):
        for result in self.run_job("mismatch"):
            self.assertEqual(int(result["state"]), INVALID_USAGE)
            self.assertIn("AllReduce(count=50, float32, sum)", result["text"])
            self.assertIn("AllReduce(count=100, float32, sum)", result["text"])
            self.assertIn("rank 1 (node0, pid", result["text"])

    def test_killed_rank_is_noticed(self):
        results = self.run_job("death", killed={1})
        for rank in 0, 2, 3:
            self.assertEqual(int(results[rank]["state"]), REMOTE_ERROR)
            self.assertIn("rank 1", results[rank]["text"])

    def test_abort_releases_everybody(self):
        results = self.run_job("abort", ranks={0: {"SIMGPU_NCCL_FAULT": "stall:0"}})
        self.assertEqual(results[0]["aborted"], "1")
        for result in results[1:]:
            self.assertEqual(int(result["state"]), REMOTE_ERROR)
            self.assertIn("rank 0 has aborted", result["text"])

    def test_ranks_that_lose_their_contexts_do_not_wait_for_their_collectives(self):
        lost = {"SIMGPU_NCCL_FAULT": "stall:0", "SIMGPU_FAULT": "copies_break:1"}
        for result in self.run_job("lost", ranks=dict.fromkeys(range(4), lost)):
            self.assertEqual(result["copy"], ILLEGAL_ADDRESS, result.err)
            self.assertIn(int(result["finalize"]), (UNHANDLED_CUDA_ERROR, REMOTE_ERROR), "its own loss, or a peer's")

    def test_one_process_with_several_gpus(self):
        process = self.start("initall", nodes=1, gpus=1, environment=self.environment(1, 3),
                             ranks={0: {"CUDA_VISIBLE_DEVICES": "0,1,2"}})[0]
        result = Result(process)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual((result["gpus"], result["right"]), ("3", "3"))

    def test_two_ranks_on_one_gpu_are_refused(self):
        processes = self.start("sums", nodes=1, gpus=2, ranks={1: {"CUDA_VISIBLE_DEVICES": "0"}})
        for result in map(Result, processes):
            self.assertEqual(result.code, 1)
            self.assertIn("duplicate GPU: rank 0 and rank 1", result.err)

    def test_cut_connections_are_noticed(self):
        results = self.run_job("mismatch", ranks={3: {"SIMGPU_NCCL_FAULT": "drop:0"}})
        for result in results:
            self.assertIn(int(result["state"]), (REMOTE_ERROR, INVALID_USAGE))

    def test_split(self):
        results = self.run_job("split")
        # Keys fall with the rank, so the order is reversed: {0, 2} and {1}. Rank 3 stays out.
        self.assertEqual([(r["rank"], r["sum"]) for r in results[:3]], [("1", "5"), ("0", "2"), ("0", "5")])
        self.assertEqual(results[3]["none"], "1")

    def test_non_blocking(self):
        for result in self.run_job("nonblocking"):
            self.assertEqual((int(result["made"]), int(result["launched"])), (IN_PROGRESS, IN_PROGRESS))
            self.assertEqual(result["sum"], "15")

    def expected_ms(self, ranks, jobs=1):
        return jobs * 2 * (ranks - 1) / ranks * 60_000 * 4 / NODE_LINK * 1e3

    def assert_shaped(self, run, expected, least=1.0):
        """Asserts that no run of three is faster than the link permits, and that their median is below 1.5 times that
        time. `run` returns the results of each job. `least` is the part of the expected time that is enough, where a
        neighbour leaves the link free between two of its collectives. A run that takes too long is void, and is
        repeated, if its threads were too late."""
        times = []
        for number in range(3 + MOST_VOID_RUNS):
            report = os.path.join(self.directory, f"report-{number}-{len(os.listdir(self.directory))}")
            os.mkdir(report)
            jobs = [spans(results) for results in run(report)]
            self.assertGreaterEqual(min(job.slowest for job in jobs), 0.9999 * least * expected)
            self.assertGreaterEqual(min(job.first_end for job in jobs), 0.96 * expected)
            longest = max(job.slowest for job in jobs)
            if longest < 1.5 * expected or lateness_us(report) <= MOST_LATE_US:
                times.append(longest)
            if len(times) == 3:
                self.assertLess(statistics.median(times), 1.5 * expected, times)
                return
        self.fail(f"{3 + MOST_VOID_RUNS - len(times)} of {3 + MOST_VOID_RUNS} runs were void")

    def test_links_are_shaped(self):
        self.assert_shaped(lambda report: [self.run_job("timed", environment=self.reporting(report))],
                           self.expected_ms(4))

    def test_reports_tell_links_and_collectives_from_compute(self):
        report = os.path.join(self.directory, "report")
        os.mkdir(report)
        self.run_job("timed", environment=self.reporting(report))
        reports = [json.loads(path.read_text(encoding="utf-8")) for path in Path(report).glob("*.json")]
        sent, received = (max(report["node_link_ns"][way] for report in reports) / 1e6 for way in ("out", "in"))
        self.assertGreaterEqual(sent, self.expected_ms(4))
        self.assertGreaterEqual(received, self.expected_ms(4))
        busy, worked = ({gpu: max(r[key][gpu] for r in reports if gpu in r[key]) for r in reports for gpu in r[key]}
                        for key in ("busy_ns", "work_ns"))
        self.assertEqual(len(busy), 4)
        for gpu, nanoseconds in busy.items():
            self.assertGreaterEqual(nanoseconds / 1e6, 0.9 * self.expected_ms(4))
            self.assertLess(worked[gpu], 0.1 * nanoseconds)

    def test_hollow_collectives_take_their_time_and_move_nothing(self):
        self.assert_shaped(lambda report: [self.run_job("timed", environment=self.reporting(report, hollow=65536))],
                           self.expected_ms(4))
        for result in self.run_job("large", environment=self.environment(2, 2, hollow=65536)):
            self.assertEqual((float(result["summed"]), float(result["received"])), (0, 0), "they keep what was there")
        for result in self.run_job("large", environment=self.environment(2, 2)):
            self.assertEqual((float(result["summed"]), float(result["received"])), (1, 1), "the control")
        for result in self.run_job("group", environment=self.environment(2, 2, hollow=65536)):
            self.assertEqual((result["first"], result["second"], result["received"]), ("6", "60", "6"), "small")

    def test_jobs_share_links_or_not(self):
        def both(report, sharing):
            environment = self.reporting(report, sharing)
            jobs = [self.start("timed", environment=environment) for _ in range(2)]
            return [[Result(process) for process in job] for job in jobs]

        self.assert_shaped(lambda report: both(report, "shared"), self.expected_ms(4, 2), least=0.96)
        self.assert_shaped(lambda report: both(report, "private"), self.expected_ms(4, 1))

    def test_slow_link_fault(self):
        slow = {1: {"SIMGPU_NCCL_FAULT": "slow_link:1.5"}}
        self.assert_shaped(lambda report: [self.run_job("timed", ranks=slow, environment=self.reporting(report))],
                           1.5 * self.expected_ms(4))

    def test_bad_settings_are_refused(self):
        bad = {"SIMGPU_NCCL_FAULT": "lose:1"}
        process = self.start("sums", nodes=1, gpus=1, ranks={0: bad})[0]
        result = Result(process)
        self.assertEqual(result.code, 1)
        self.assertIn("SIMGPU_NCCL_FAULT: expected corrupt_byte:N, drop:N, stall:N or slow_link:F, got lose:1",
                      result.err)

    def test_symbols_are_weak_and_strong(self):
        lines = subprocess.run(["nm", "-D", "--defined-only", os.path.join(LIBRARIES, "libnccl.so.2")],
                               check=True, capture_output=True, text=True).stdout.splitlines()
        kinds = {name: kind for _, kind, name in (line.split() for line in lines if len(line.split()) == 3)}
        weak = {name for name in kinds if name.startswith("nccl")}
        self.assertGreater(len(weak), 25)
        for name in weak:
            self.assertEqual((kinds[name], kinds["p" + name]), ("W", "T"), name)


@dataclass(frozen=True)
class Spans:
    """Holds medians over the collectives of a job, in ms from where its first rank begins a collective."""

    slowest: float  # to where the last rank ends
    first_end: float  # to where the first rank ends


def spans(results):
    """Returns the Spans of a job from the results of its ranks, whose clock is one. Ranks that begin later than others
    do not make its collectives look shorter."""
    begins, ends = ([[float(word) for word in result[fact].split()] for result in results]
                    for fact in ("begins_ms", "ends_ms"))
    firsts = [min(times) for times in zip(*begins)]
    return Spans(*(statistics.median(of(times) - first for times, first in zip(zip(*ends), firsts))
                   for of in (max, min)))


def unique_id():
    identity = ctypes.create_string_buffer(128)
    if LIBRARY.ncclGetUniqueId(identity) != SUCCESS:
        raise RuntimeError("ncclGetUniqueId failed")
    return identity.raw.hex()


if __name__ == "__main__":
    os.environ["NCCL_SOCKET_IFNAME"] = "lo"
    LIBRARY = ctypes.CDLL(os.path.join(LIBRARIES, "libnccl.so.2"))
    unittest.main()
