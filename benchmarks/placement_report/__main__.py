"""Simulates placement on traces: `TRACES=DIR python3 -m benchmarks.placement_report --out OUT [--only RUN,...]`.

Nothing is measured and no GPU is involved: equal sources and traces give equal files. OUT gets, per run, RUN.json (the
source of the tables) and RUN/ with POLICY.jobs.csv, POLICY.occupancy.csv, POLICY.json and the pictures. It also gets
report.md. The exit code is 0, 1 where a run failed, or 2 for a command line that names what does not exist.
"""

import json
import sys
from pathlib import Path

from benchmarks.placement_report import page
from benchmarks.placement_report.pictures import pictures
from benchmarks.placement_report.runs import POLICIES, RUNS
from benchmarks.placement_report.summary import jobs_in, moments_in, summary
from testing.arguments import Parser
from testing.commands import Build
from testing.processes import Failed
from testing.programs import json_lines

_PATIENCE_S = 1800


def main(arguments=None):
    parser = Parser(prog="benchmarks.placement_report", description="Simulate placement on traces (TRACES=DIR).")
    parser.add_argument("--build", type=Path, default=Path("build/bench"), help="build directory (%(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="where the report goes")
    parser.add_argument("--only", default="", help="runs, separated by commas: " + ", ".join(r.name for r in RUNS))
    options = parser.parse_args(arguments)
    wanted = [name for name in options.only.split(",") if name] or [run.name for run in RUNS]
    for name in wanted:
        if name not in [run.name for run in RUNS]:
            parser.error(f"--only: expected some of {', '.join(run.name for run in RUNS)}, got {name}")
    program = Build(options.build.resolve()).program("placement_trace")
    try:
        done = [play(program, run, options.out) for run in RUNS if run.name in wanted]
    except Failed as failure:
        print(f"benchmarks.placement_report: {failure}", file=sys.stderr)
        return 1
    (options.out / "report.md").write_text(page.page(done), encoding="utf-8")
    return 0


def play(program, run, out):
    """Plays all policies on one trace, writes its files, and returns the content of RUN.json."""
    folder = out / run.name
    folder.mkdir(parents=True, exist_ok=True)
    told = {"name": run.name, "title": run.title, "files": {file.source: file.sha256 for file in run.files},
            "nodes": run.nodes, "left_out": 0, "policies": {}}
    played = {}
    for policy in POLICIES:
        print(f"{run.name} {policy}", flush=True)
        line, played[policy] = _play_one(run.command(program, policy), folder, policy)
        told["policies"][policy] = summary(*played[policy])
        told["left_out"] = line["left_out"]
        agree(told["policies"][policy], line)
        _write_json(folder / f"{policy}.json", {"run": run.name, "policy": policy, **told["policies"][policy]})
    for name, picture in pictures(run.title, played).items():
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8")
    _write_json(out / f"{run.name}.json", told)
    return told


def agree(told, line):
    """Raises Failed where the simulator's own line disagrees with the summary of its files."""
    pairs = {"jobs": told["jobs"], "completion_s": told["completion_s"]["mean"], "makespan_s": told["makespan_s"],
             "slowdown_p50": told["slowdown"]["median"], "wait_s_p99": told["wait_s"]["p99"],
             "occupancy": told["occupancy"], "restarts": told["restarts"]}
    for key, value in pairs.items():
        # The files have thousandths of a second. A slowdown is computed from such numbers as well.
        if abs(line[key] - value) > 0.002 + 1e-4 * abs(value):
            raise Failed(f"{line['policy']}: {key} is {value} by the files and {line[key]} by the simulator")


def _play_one(command, folder, policy):
    jobs, occupancy = folder / f"{policy}.jobs.csv", folder / f"{policy}.occupancy.csv"
    line = json_lines([*command, f"--jobs={jobs}", f"--occupancy={occupancy}"], {}, _PATIENCE_S)[0]
    with open(jobs, encoding="utf-8") as of_jobs, open(occupancy, encoding="utf-8") as of_moments:
        return line, (jobs_in(of_jobs), moments_in(of_moments))


def _write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
