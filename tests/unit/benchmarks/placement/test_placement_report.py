import io
import json
import re
import tempfile
import unittest
import xml.etree.ElementTree as xml
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from benchmarks.placement.trace_files import Trace
from benchmarks.placement_report import __main__ as report, keep, page, plots
from benchmarks.placement_report.pictures import pictures
from benchmarks.placement_report.runs import POLICIES, RUNS, Run
from benchmarks.placement_report.summary import (Job, Moment, distribution, jobs_in, moments_in, occupancy,
                                                 occupancy_over_time, summary)
from testing.processes import Failed
from testing.shipped import slots_per_gpu

ROOT = Path(__file__).resolve().parents[4]
# There are two jobs on four GPUs. One has two of them for 100 s. The other waits for 60 s and has all for 40 s.
JOBS = ("job_id,num_gpu,submit_s,start_s,end_s,length_s,restarts\n"
        "1,2,0.000,0.000,100.000,50.000,1\n2,4,40.000,100.000,140.000,40.000,0\n")
MOMENTS = ("from_s,held_gpus,there_gpus,running,waiting\n"
           "0.000,2.000,4,1,0\n40.000,2.000,4,1,1\n100.000,4.000,4,1,0\n140.000,0.000,4,0,0\n")
LINE = {"policy": "fifo", "jobs": 2, "left_out": 3, "completion_s": 100.0, "makespan_s": 140.0, "slowdown_p50": 2.0,
        "wait_s_p99": 60.0, "occupancy": 0.6429, "restarts": 1}


def read():
    return jobs_in(io.StringIO(JOBS)), moments_in(io.StringIO(MOMENTS))


class Summaries(unittest.TestCase):
    def test_by_hand(self):
        told = summary(*read())
        self.assertEqual(told["completion_s"], {"mean": 100, "median": 100, "p90": 100, "p99": 100, "max": 100})
        self.assertEqual(told["wait_s"], {"mean": 30, "median": 0, "p90": 60, "p99": 60, "max": 60})
        self.assertEqual(told["slowdown"], {"mean": 2.25, "median": 2, "p90": 2.5, "p99": 2.5, "max": 2.5})
        self.assertEqual((told["makespan_s"], told["jobs"], told["restarts"], told["most_waiting"]), (140, 2, 1, 1))
        self.assertEqual(told["occupancy"], round((100 * 2 + 40 * 4) / (140 * 4), 3))
        self.assertEqual(told["occupancy_while_jobs_come"], 0.5)

    def test_percentiles_of_a_hundred(self):
        jobs = [Job(submit_s=0, start_s=0, end_s=n, length_s=1, restarts=0) for n in range(1, 101)]
        self.assertEqual(summary(jobs, read()[1])["completion_s"],
                         {"mean": 50.5, "median": 50, "p90": 90, "p99": 99, "max": 100})

    def test_occupancy_of_a_part_and_of_nothing(self):
        moments = read()[1]
        self.assertEqual(occupancy(moments, 120, 80), 0.75)
        self.assertEqual(occupancy(moments, 300, 200), 0)
        self.assertEqual(occupancy([Moment(0, 0, 0, 0), Moment(9, 0, 0, 0)], 9), 0)
        self.assertEqual(occupancy_over_time(moments, 140, parts=7),
                         [(10, 0.5), (30, 0.5), (50, 0.5), (70, 0.5), (90, 0.5), (110, 1), (130, 1)])

    def test_a_distribution_ends_with_all(self):
        self.assertEqual(distribution([3, 1, 2, 4]), [(1, 0.25), (2, 0.5), (3, 0.75), (4, 1)])
        many = distribution(range(1, 10001), points=10)
        self.assertEqual((many[0], many[-1], len(many)), ((1000, 0.1), (10000, 1), 10))

    def test_what_the_simulator_says_otherwise_is_told(self):
        told = summary(*read())
        report.agree(told, LINE)
        for key, value in {"completion_s": 101, "makespan_s": 141, "slowdown_p50": 2.1, "wait_s_p99": 61,
                           "occupancy": 0.7, "restarts": 0, "jobs": 3}.items():
            with self.assertRaisesRegex(Failed, f"fifo: {key} is .* by the files and {value} by the simulator"):
                report.agree(told, {**LINE, key: value})


class Plots(unittest.TestCase):
    def test_lines_lie_where_their_values_are(self):
        text = plots.lines("a < b", plots.Axis("x", 1, 100, True), plots.Axis("y", 0, 1), {"one": [(1, 0), (10, 1)]})
        line = xml.fromstring(text).find("{*}polyline")
        (left, low), (middle, high) = (tuple(map(float, p.split(","))) for p in line.get("points").split())
        frame = xml.fromstring(text).find("{*}rect")
        x, y, width, height = (float(frame.get(key)) for key in ("x", "y", "width", "height"))
        self.assertEqual((left, low), (x, y + height))
        self.assertEqual((middle, high), (x + width / 2, y))

    def test_what_lies_beyond_stays_in_the_frame(self):
        self.assertEqual((plots.Axis("x", 1, 2).part(9), plots.Axis("x", 1, 2).part(0)), (1, 0))

    def test_ticks(self):
        self.assertEqual([round(t, 9) for t in plots.Axis("x", 0, 1).ticks()], [0, 0.2, 0.4, 0.6, 0.8, 1])
        self.assertEqual(plots.Axis("x", 0, 88).ticks(), [0, 20, 40, 60, 80])
        self.assertEqual(plots.decades("x", [0.5, 300]).ticks(), [0.1, 1, 10, 100, 1000])

    def test_one_value_has_an_axis(self):
        axis = plots.decades("x", [10])
        self.assertLess(axis.least, axis.most)

    def test_pictures_are_the_same_again(self):
        played = {"fifo": read(), "shipped": read()}
        once, again = pictures("t", played), pictures("t", played)
        self.assertEqual(once, again)
        for name in page.PICTURES:
            self.assertEqual(len(xml.fromstring(once[name]).findall("{*}polyline")), 2, name)


class Commands(unittest.TestCase):
    def command(self, name, path):
        run = next(run for run in RUNS if run.name == name)
        with mock.patch.object(Trace, "path", path):
            return list(map(str, run.command("placement_trace", "unbounded")))

    def test_files_are_given_as_they_were_found(self):
        for run in RUNS:
            command = self.command(run.name, lambda file: Path("/traces") / file.folder / file.name)
            self.assertEqual(command[1], f"/traces/{run.files[0].folder}/{run.files[0].name}")
            self.assertEqual(command[2:5], ["shipped", f"--slots={slots_per_gpu()}", "--starvation=1e18"])
            self.assertIn(f"--nodes={run.nodes}", command)
        self.assertIn("--placements=/traces/pollux_osdi21", command)
        self.assertIn("--clusters=0e4a51,7f04ca,ee9e8c", command)

    def test_a_file_that_is_not_there_ends_it(self):
        with mock.patch.dict("os.environ", {"TRACES": "/nowhere"}), self.assertRaisesRegex(Failed, "no 0e4a51.trace"):
            next(run for run in RUNS if run.name == "gavel").command("placement_trace", "fifo")

    def test_files_read_by_their_folder_are_those_that_were_checked(self):
        with self.assertRaisesRegex(Failed, "expected one folder with all of .*ncf.*, got /a, /b"):
            self.command("philly", lambda file: Path("/b" if "ncf" in file.name else "/a") / file.name)


class Entry(unittest.TestCase):
    def play(self, line):
        """Runs `main` with a simulator that always does the same. Returns (exit code, folder of files, standard
        error).
        """
        def simulator(command, _environment, _timeout_s):
            for option, text in (("--jobs=", JOBS), ("--occupancy=", MOMENTS)):
                Path(next(c for c in command if str(c).startswith(option)).removeprefix(option)).write_text(text)
            return [line]

        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        run = Run("muri", "a run", (), lambda paths: [], 8)
        with mock.patch.object(report, "json_lines", simulator), mock.patch.object(report, "RUNS", (run,)), \
                mock.patch.object(Run, "command", lambda *_: ["simulator"]), redirect_stdout(io.StringIO()), \
                redirect_stderr(io.StringIO()) as said:
            code = report.main(["--out", directory.name])
        return code, Path(directory.name), said.getvalue()

    def test_files(self):
        code, out, _ = self.play(LINE)
        self.assertEqual(code, 0)
        told = json.loads((out / "muri.json").read_text())
        self.assertEqual(list(told["policies"]), list(POLICIES))
        self.assertEqual(told["left_out"], 3)
        for policy in POLICIES:
            self.assertEqual(json.loads((out / "muri" / f"{policy}.json").read_text())["makespan_s"], 140)
        self.assertEqual({p.name for p in (out / "muri").glob("*.svg")}, {f"{n}.svg" for n in page.PICTURES})
        self.assertEqual((out / "report.md").read_text(), page.page([told]))

    def test_the_same_again(self):
        (_, once, _), (_, again, _) = self.play(LINE), self.play(LINE)
        for path in once.rglob("*.*"):
            self.assertEqual(path.read_bytes(), (again / path.relative_to(once)).read_bytes())

    def test_a_simulator_that_disagrees_with_its_files_fails(self):
        code, _, said = self.play({**LINE, "makespan_s": 150})
        self.assertEqual((code, "makespan_s is 140.0 by the files" in said), (1, True))

    def test_an_unknown_run_is_refused(self):
        with redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as end:
            report.main(["--out", "/nowhere", "--only", "muri,mars"])
        self.assertEqual(end.exception.code, 2)
        self.assertIn("--only: expected some of muri, ", said.getvalue())


class Kept(unittest.TestCase):
    """Checks that docs/simulations.md says what was kept."""

    kept = ROOT / "benchmarks/results/placement"
    text = (ROOT / "docs/simulations.md").read_text(encoding="utf-8")

    def test_the_page_has_the_kept_tables(self):
        self.assertEqual(keep.with_tables(self.text, self.kept), self.text)

    def test_another_table_is_seen(self):
        some = json.loads((self.kept / "gavel.json").read_text())["policies"]["fifo"]["completion_s"]["mean"]
        other = self.text.replace(f"{some:,.0f}", "1")
        self.assertNotEqual(other, self.text)
        self.assertNotEqual(keep.with_tables(other, self.kept), other)

    def test_what_is_kept_is_of_the_runs_that_there_are(self):
        for run in RUNS:
            kept = json.loads((self.kept / f"{run.name}.json").read_text())
            self.assertEqual(kept["files"], {file.source: file.sha256 for file in run.files})
            self.assertEqual((kept["title"], kept["nodes"]), (run.title, run.nodes))
            self.assertEqual(list(kept["policies"]), list(POLICIES))

    def test_the_page_has_every_source_and_checksum(self):
        for file in {file for run in RUNS for file in run.files}:
            self.assertIn(f"| `{file.folder}` | `{file.name}` | {file.source} |", self.text)
            self.assertIn(file.sha256, self.text)

    def test_pictures_are_there(self):
        pictures = re.findall(r"\((simulations/.*?)\)", self.text)
        self.assertEqual(len(pictures), len(RUNS) * len(page.PICTURES))
        for picture in pictures:
            self.assertTrue((ROOT / "docs" / picture).is_file(), picture)
