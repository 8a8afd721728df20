"""Tests what the library does to the calls of a job: it narrows those that it may, lists them, or leaves all as they
are."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from testing.commands import Build
from testing.shrink import calls, wire
from testing.shrink.job import Job, RankSettings

BUILD = Build(Path(os.environ.get("BUILD", "")))

_ASKS = """
import ctypes
try:
    print(ctypes.CDLL(None).ncclGetUniqueId)
except AttributeError as error:
    print(error)
"""
_OPENS = """
import ctypes
unique_id = (ctypes.c_char * 128)()
print(ctypes.CDLL("libnccl.so.2").ncclGetUniqueId(unique_id), bytes(unique_id)[96:].hex())
"""


def kernel_image(name):
    return {"CROSSOVER_SHRINK_IMAGE": str(BUILD.top / f"tests/process/shrink/{name}.image")}


class JobCase(unittest.TestCase):
    def run_job(self, settings, scenario="kinds", ranks=2, folder=None, nodes=()):
        """Returns {rank: Ended} of a job whose ranks all bring this."""
        with tempfile.TemporaryDirectory() as own, Job(BUILD, folder or own, ranks, scenario, nodes) as job:
            for rank in range(ranks):
                job.start(rank, settings)
            ended = job.wait()
        for end in ended.values():
            self.assertEqual(end.code, 0, end)
        return ended


class Narrowed(JobCase):
    """The oracle in the ranks has the sums of floats and those of bf16, bit for bit, with NaN, infinity, and a number
    that bf16 does not hold."""

    EXPECTED = ("init 0", "sum narrow 0", "average narrow 0", "few plain 0", "enough narrow 0", "small right 0",
                "first narrow 0", "second narrow 0", "captured plain 0", "sum narrow 0", "destroy 0")

    def test_what_is_narrowed(self):
        for ranks in (2, 3):
            for end in self.run_job(RankSettings(), ranks=ranks).values():
                lines = [line for line in end.lines if ranks == 2 or not line.startswith("average")]
                expected = [line for line in self.EXPECTED if ranks == 2 or not line.startswith("average")]
                self.assertEqual(lines, expected)

    def test_in_front_of_the_library_of_turns(self):
        for gang in ({}, {"CROSSOVER_GANG": "a", "CROSSOVER_GANG_SIZE": "2"}):
            for end in self.run_job(RankSettings(file="both", environment=gang)).values():
                self.assertEqual(tuple(end.lines), self.EXPECTED)

    def test_its_memory_counts_against_the_budget_of_the_job(self):
        for level, nodes in (("bf16", (0, 0)), ("q8", (0, 1))):
            for limit, sums in (("48Mi", "plain"), ("96Mi", "narrow")):  # the second one is the control
                asked = {"CROSSOVER_GANG": "a", "CROSSOVER_GANG_SIZE": "2", "CROSSOVER_GPU_MEMORY": limit,
                         "CROSSOVER_SHRINK_BUDGET_MIB": "64"}
                settings = RankSettings(file="both", shrink=level, environment=asked)
                for end in self.run_job(settings, "sum", nodes=nodes).values():
                    with self.subTest(level=level, limit=limit):
                        self.assertEqual(end.sums(), {sums}, end)
                        said = "budget: expected 64 MiB of the GPU, got error 2" in end.errors
                        self.assertEqual(said, sums == "plain")

    def test_one_warning_says_why_a_job_runs_plain(self):
        refused = RankSettings(environment={"CROSSOVER_SHRINK_IMAGE": "/etc/hostname"})
        for end in self.run_job(refused, "again").values():
            warnings = [line for line in end.errors.splitlines() if "crossover: shrink" in line]
            self.assertEqual(len(warnings), 1, end.errors)
            self.assertIn("runs plain: ", warnings[0])

    def test_an_unknown_level_is_refused_in_words(self):
        for end in self.run_job(RankSettings(shrink="fp8"), "sum").values():
            self.assertIn("CROSSOVER_SHRINK: expected off, advise, bf16, q8, adaptive or auto, got fp8; calls stay as "
                          "they are", end.errors)
            self.assertEqual(end.sums(), {"plain"})


class Chosen(JobCase):
    """The owner asks for auto. What the ranks say of a choice; rows.py has what becomes of their calls."""

    EXPECTED = "expected bf16, q8, off:one_node, off:times_unknown, off:not_needed or off:no_gain"

    def said(self, *choices, **others):
        """Returns the warnings of each rank of a job with these choices, each of which makes two communicators."""
        with tempfile.TemporaryDirectory() as folder, Job(BUILD, folder, len(choices), "again") as job:
            for rank, choice in enumerate(choices):
                chosen = {} if choice is None else {"CROSSOVER_SHRINK_CHOICE": choice}
                job.start(rank, RankSettings(shrink="auto", environment={**chosen, **others}))
            ended = job.wait()
        for end in ended.values():
            self.assertEqual(end.code, 0, end)
            self.assertEqual(end.sums(), {"plain"})
        return [[line for line in end.errors.splitlines() if "crossover: shrink" in line] for end in ended.values()]

    def test_calls_that_pass_by_choice_are_no_degraded_mode(self):
        for choice in ("off:one_node", "off:times_unknown", "off:not_needed", "off:no_gain"):
            with self.subTest(choice):
                self.assertEqual(self.said(choice, choice), [[], []])

    def test_one_warning_says_that_no_choice_is_there(self):
        for choice, got in ((None, "none"), ("", "none"), ("fp8", "fp8"), ("adaptive", "adaptive")):
            for lines in self.said(choice, choice):
                with self.subTest(choice):
                    self.assertEqual(len(lines), 1, lines)
                    self.assertTrue(lines[0].endswith("shrink: a communicator runs plain: CROSSOVER_SHRINK_CHOICE: "
                                                      f"{self.EXPECTED}, got {got}"), lines)

    def test_disabled_it_says_nothing(self):
        self.assertEqual(self.said(None, "off:no_gain", CROSSOVER_DISABLE="1"), [[], []])

    def test_a_rank_that_declines_says_no(self):
        lines, none = self.said("bf16", "off:no_gain")
        self.assertEqual(none, [])
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("runs plain: rank 1: expected hello, got no: it is not ready", lines[0])

    def test_a_rank_0_that_declines_opens_no_port(self):
        none, lines = self.said("off:no_gain", "bf16")
        self.assertEqual(none, [])
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("runs plain: unique ID: expected a port in it, got none", lines[0])


class Exchanged(JobCase):
    """The oracle in the ranks is shrink/codec/exchange, hierarchical, bit for bit, over the values of all ranks, with
    NaN and infinity. Sums that are the oracle's on each rank are equal on all ranks."""

    SHAPES = ((0, 1), (0, 1, 2), (0, 0, 1, 1))

    def sums(self, nodes, environment):
        """Returns the lines of all ranks of a job with one sum that is no plain one."""
        settings = RankSettings(shrink="q8", environment=environment)
        return [end.lines for end in self.run_job(settings, "bits", len(nodes), nodes=nodes).values()]

    def test_what_is_narrowed(self):
        for nodes in self.SHAPES:
            for end in self.run_job(RankSettings(shrink="q8"), ranks=len(nodes), nodes=nodes).values():
                with self.subTest(nodes):
                    self.assertEqual(tuple(end.lines), Narrowed.EXPECTED)

    def test_in_front_of_the_library_of_turns(self):
        for gang in ({}, {"CROSSOVER_GANG": "a", "CROSSOVER_GANG_SIZE": "2"}):
            settings = RankSettings(file="both", shrink="q8", environment=gang)
            for end in self.run_job(settings, nodes=(0, 0, 1, 1), ranks=4).values():
                self.assertEqual(tuple(end.lines), Narrowed.EXPECTED)

    def test_all_ranks_have_the_same_bits(self):
        for nodes in self.SHAPES:
            said = self.sums(nodes, {})
            self.assertEqual(len(set(said)), 1, said)

    def test_an_owner_that_keeps_its_sum_is_seen(self):
        """This is a control: ranks then differ, and from the oracle."""
        for nodes in self.SHAPES:
            said = self.sums(nodes, kernel_image("keeps_sum"))
            self.assertGreater(len(set(said)), 1)
            self.assertTrue(all("sum other 0" in lines for lines in said), said)

    def test_bounds_that_leave_nan_out_are_seen(self):
        """This is a control."""
        for lines in self.sums((0, 1), kernel_image("loses_nan")):
            self.assertIn("sum other 0", lines)

    def test_its_bytes_are_those_of_the_formula(self):
        for nodes in self.SHAPES:
            shape = max(nodes) + 1, nodes.count(0)
            self.assertEqual(wire.counted(BUILD, nodes), wire.formula(wire.COUNT, *shape))

    def test_a_flat_exchange_has_other_bytes(self):
        """This is a control: it is what the hierarchy saves between nodes."""
        flat, within = wire.counted(BUILD, (0, 1, 2, 3))
        self.assertEqual(within, 0)
        self.assertGreater(sum(flat), 1.9 * sum(wire.formula(wire.COUNT, 2, 2)[0]))

    def test_a_warning_says_why_it_runs_plain(self):
        for end in self.run_job(RankSettings(shrink="q8"), "again").values():
            warnings = [line for line in end.errors.splitlines() if "crossover: shrink" in line]
            self.assertEqual(len(warnings), 1, end.errors)
            self.assertIn("runs plain: q8: expected ranks on several nodes, got all 2 on one", warnings[0])


class Advice(JobCase):
    def advised(self, scenario="kinds", file="faulty", **environment):
        """Returns [(Ended, report)] of the ranks of a job in a dry run."""
        with tempfile.TemporaryDirectory() as folder, Job(BUILD, folder, 2, scenario) as job:
            for rank in range(job.ranks):
                report = {"CROSSOVER_SHRINK_REPORT": f"{folder}/report-{rank}-"}
                job.start(rank, RankSettings(file=file, shrink="advise", environment={**environment, **report}))
            ended = job.wait()
            reports = [json.loads(next(Path(folder).glob(f"report-{rank}-*.json")).read_text(encoding="utf-8"))
                       for rank in ended]
        for end in ended.values():
            self.assertEqual(end.code, 0, end)
        return list(zip(ended.values(), reports))

    def test_calls_are_listed_and_stay_as_they_are(self):
        ended, reports = zip(*self.advised())
        for end in ended:
            self.assertEqual([line for line in end.lines if " narrow " in line], [])
            self.assertRegex(end.errors, r"communicator 1: \d+ calls of all_reduce, 100003 float32: would be narrowed")
        self.assertEqual(len(reports), 2)
        for said in reports:
            kinds = {(kind["function"], kind["type"], kind["operator"], kind["count"]): (kind["calls"], kind["verdict"])
                     for kind in said["kinds"]}
            self.assertEqual(kinds[("all_reduce", 7, 4, 100003)], (1, "would be narrowed"))
            self.assertEqual(kinds[("all_reduce", 7, 0, 65535)], (1, "plain: fewer than 65536 elements"))
            self.assertEqual(kinds[("all_reduce", 2, 0, 1)], (1, "plain: not float32"))
            self.assertEqual(said["calls_of_other_kinds"], 0)
            captured = [kind for kind in said["kinds"] if kind["verdict"] == "plain: captured into a graph"]
            self.assertEqual([(kind["count"], kind["calls"]) for kind in captured], [(100003, 1)])

    def samples(self, said):
        """Returns {(operator, count): samples} of the kinds that would be narrowed."""
        return {(kind["operator"], kind["count"]): kind["samples"] for kind in said["kinds"]
                if kind["verdict"] == "would be narrowed"}

    def test_samples_are_the_first_calls_of_each_kind(self):
        """A group has two calls of one kind, of which the first is a sample."""
        gang = {"CROSSOVER_GANG": "a", "CROSSOVER_GANG_SIZE": "2"}
        for file, environment in (("faulty", {}), ("both", {}), ("both", gang)):
            for end, said in self.advised(file=file, **environment):
                self.assertEqual(self.samples(said), {(0, 100003): 3, (4, 100003): 1, (0, 65536): 1}, end)
                self.assertTrue(all(kind["samples_unfinished"] == 0 for kind in said["kinds"] if "samples" in kind))
                self.assertEqual([line for line in end.lines if " plain " not in line and line.startswith("sum")], [])

    def errors(self, **environment):
        """Returns [(what the library measured, what the codec says)] of ranks with three sums: errors of bf16 and q8,
        and buckets that are not finite."""
        compared = []
        for end, said in self.advised("errors", **environment):
            kind, = (kind for kind in said["kinds"] if kind["verdict"] == "would be narrowed")
            self.assertEqual(kind["samples"], 3)
            expected, = (line.split()[1:] for line in end.lines if line.startswith("errors"))
            compared.append(([kind[key] for key in ("bf16_error", "q8_error", "buckets_not_finite")],
                             [float(word) for word in expected]))
            self.assertRegex(end.errors, r"the relative squared error of 3 samples is \S+ with bf16 and \S+ with q8, "
                                         r"without 3 of 588 buckets, which are not finite")
        return compared

    def test_errors_are_those_of_the_codec(self):
        for measured, expected in self.errors():
            for got, right in zip(measured, expected):
                self.assertAlmostEqual(got, right, delta=right * 1e-3)  # a report has four digits

    def test_a_kernel_that_measures_wrong_is_seen(self):
        """This is the control: its error of bf16 is that of a codec that rounds away from zero."""
        for (bf16, q8, _), (right_bf16, right_q8, _) in self.errors(**kernel_image("rounds_away")):
            self.assertGreater(bf16, 1.5 * right_bf16)
            self.assertAlmostEqual(q8, right_q8, delta=right_q8 * 1e-3)

    def assert_listed_without_errors(self, why, warned, **environment):
        for end, said in self.advised(**environment):
            self.assertEqual(end.sums(), {"plain"})
            kinds = [kind for kind in said["kinds"] if kind["verdict"] == "would be narrowed"]
            self.assertEqual(len(kinds), 3)
            for kind in kinds:
                self.assertEqual(kind["samples"], 0)
                self.assertRegex(kind["no_error"], why)
            self.assertEqual(len(re.findall("the dry run measures no errors: ", end.errors)), warned, end.errors)
            self.assertEqual(len(re.findall("would be narrowed to half; its error is not known: ", end.errors)), 3)

    def test_where_nothing_can_be_measured_it_says_why(self):
        self.assert_listed_without_errors("^image: expected crossover_shrink_error, .* got error 500", 1,
                                          **kernel_image("no_error"))
        self.assert_listed_without_errors("^image: expected crossover_shrink_error, ", 1,
                                          CROSSOVER_SHRINK_IMAGE="/etc/hostname")
        self.assert_listed_without_errors("^CROSSOVER_SHRINK_IMAGE: expected a readable file ", 1,
                                          CROSSOVER_SHRINK_IMAGE="/nowhere")
        self.assert_listed_without_errors("^memory of the host: expected the GPU to map it, got error 801", 1,
                                          SIMGPU_FAULT="host_register_fails")

    def test_a_sample_that_does_not_end_is_in_no_sum(self):
        self.assert_listed_without_errors("^its first sample was not done at the end", 0, **kernel_image("never_ends"))


class Absent(JobCase):
    """The default library has nothing of this one."""

    def symbols(self, library):
        return subprocess.run(["nm", "-C", str(library)], check=True, capture_output=True, text=True).stdout

    def test_the_default_library_has_no_symbol_of_it(self):
        self.assertEqual(re.findall(r".*shrink.*", self.symbols(BUILD.native_library)), [])

    def test_this_library_has(self):
        """This is the control."""
        self.assertGreater(len(re.findall(r".*shrink.*", self.symbols(BUILD.shrink_library))), 50)

    def test_a_job_without_the_word_runs_plain(self):
        for file in ("shipped", "none"):
            for end in self.run_job(RankSettings(file=file, shrink=""), "sum").values():
                self.assertEqual(end.lines, ("init 0", "sum plain 0", "destroy 0"))
                self.assertEqual(end.errors, "")

    def test_where_the_file_is_missing_the_loader_says_so_and_the_job_runs_plain(self):
        """An older daemon brings libcrossover.so alone."""
        for file, missing in (("missing", True), ("both", False)):
            for end in self.run_job(RankSettings(file=file), "sum").values():
                self.assertEqual(end.sums(), {"plain" if missing else "narrow"})
                said = "libcrossover-shrink.so' from LD_PRELOAD cannot be preloaded" in end.errors
                self.assertEqual(said, missing, end.errors)

    def looked_up(self, program, *libraries, shrink="bf16"):
        """Returns what a Python program says, which looks functions up by dlsym()."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD.gpu_libraries), "CROSSOVER_SHRINK": shrink,
                       "LD_PRELOAD": ":".join(map(str, libraries)), "NCCL_SOCKET_IFNAME": "lo"}
        return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True,
                              env=environment).stdout.strip()

    def test_a_program_without_nccl_finds_none(self):
        for libraries in ((BUILD.shrink_library,), (BUILD.shrink_library, BUILD.native_library)):
            for shrink in ("bf16", "off"):
                self.assertRegex(self.looked_up(_ASKS, *libraries, shrink=shrink), "undefined symbol: ncclGetUniqueId")

    def test_a_program_that_looks_nccl_up_gets_the_wrappers(self):
        for libraries in ((BUILD.shrink_library,), (BUILD.shrink_library, BUILD.native_library)):
            self.assertRegex(self.looked_up(_OPENS, *libraries), "^0 434f544c0100")
            self.assertEqual(self.looked_up(_OPENS, *libraries, shrink="off"), "0 " + "00" * 32)

    def test_calls_are_the_same_without_agreement(self):
        without = calls.of_job(BUILD, calls.WITHOUT)
        self.assertGreater(len(without[0]), 8)
        for name, settings in calls.UNCHANGED.items():
            with self.subTest(name):
                self.assertEqual(calls.differences(without, calls.of_job(BUILD, settings)), [])

    def test_a_narrowed_job_would_be_seen(self):
        """This is the control."""
        without = calls.of_job(BUILD, calls.WITHOUT)
        self.assertGreater(len(calls.differences(without, calls.of_job(BUILD, calls.NARROWED))), 10)


if __name__ == "__main__":
    unittest.main()
