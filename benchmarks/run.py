"""Measure figures: `python3 -m benchmarks.run --build build/bench [--only FIGURE] [--cases A,B] [--runs 5]`.

Each case becomes one line of <build>/<figure>.jsonl. Exit code: 0 if every line is ok, 1 if one is not, 2 for a
command line that names something that does not exist.
"""

import importlib
import json
import shlex
import sys
import time
from pathlib import Path

from benchmarks import results, validity
from benchmarks.arguments import Parser
from benchmarks.commands import Build
from benchmarks.pairs import Context
from benchmarks.processes import Failed, interruptible

# In the order in which they are taken: what later figures stand on comes first.
FIGURES = ("simgpu_error", "eta", "losses_identical", "solo_overhead", "gain_over_timeslicing", "gain_over_mps",
           "eta_timeslice", "eta_start", "eta_many", "eta_idle", "fair", "priority", "max_slowdown", "guard",
           "join_iterations", "solo_estimate_error", "cpu_cost", "handover_ratio", "hook_ns", "so_symbols",
           "budget_error", "fault_matrix", "kills", "arbiter_restarts", "hostile", "charged", "idle_process",
           "framework_time", "order_model", "muri", "muri_ratio", "muri_ratio_shipped", "interleavings", "plan_ms",
           "attempt_ms", "decision_us", "rss_mib", "mismatch_rate", "over_allocations", "chain", "chain_annotation",
           "chain_helm", "opposed_helm", "control_plane", "gang_512", "leader_kills", "opposed_cluster", "recognition",
           "webhook_faults", "doors", "churn", "config_errors", "restarts", "added_start_ms", "private_mib",
           "hostile_node", "opposed_node", "eta_hostgates_beside")


def main(arguments=None):
    parser = Parser(prog="benchmarks.run", description="Measure figures on software GPUs.")
    parser.add_argument("--build", type=Path, default=Path("build/bench"), help="build directory (%(default)s)")
    parser.add_argument("--out", type=Path, help="where <figure>.jsonl goes (the build directory)")
    parser.add_argument("--only", default="", help="figures, separated by commas")
    parser.add_argument("--cases", default="", help="cases of them, separated by commas")
    parser.add_argument("--runs", type=int, default=5, help="runs that make a median (%(default)s)")
    parser.add_argument("--patience", type=float, default=0.0,
                        help="minutes for which a case waits for a quiet machine, and in which it is taken again "
                        "while it is void (%(default)s)")
    parser.add_argument("--no-namespaces", action="store_true", help="run all nodes as plain processes")
    parser.add_argument("--keep-logs", type=Path, help="copy the last run's files to this directory")
    parser.add_argument("--list", action="store_true", help="name the figures and their cases, and end")
    options = parser.parse_args(arguments)
    wanted = _names(options.only) or list(FIGURES)
    for name in wanted:
        if name not in FIGURES:
            parser.error(f"--only {name}: no such figure; there are {', '.join(FIGURES)}")
    figures = [importlib.import_module(f"benchmarks.figures.{name}") for name in wanted]
    if options.list:
        for name, figure in zip(wanted, figures):
            print(f"{name}: {', '.join(figure.CASES)}")
        return 0
    cases = _names(options.cases)
    known = {case for figure in figures for case in figure.CASES}
    for case in cases:
        if case not in known:
            parser.error(f"--cases {case}: no such case; there are {', '.join(sorted(known))}")
    if options.runs < 1:
        parser.error(f"--runs {options.runs}: at least 1")
    try:
        with interruptible(), validity.awake():
            return measure(options, list(zip(wanted, figures)), cases)
    except KeyboardInterrupt:
        return 130


def measure(options, figures, cases):
    build = Build(options.build.resolve())
    context = Context(build, lambda text: print(text, flush=True), options.runs, not options.no_namespaces,
                      options.keep_logs)
    results.revision()  # of what is measured, not of what is edited meanwhile
    good = True
    for name, figure in figures:
        for case in figure.CASES:
            if cases and case not in cases:
                continue
            reason = "" if cases else _left_out(figure, case)
            if reason:
                print(f"{name} {case}: left out, but for --cases {case}: {reason}", flush=True)
                continue
            print(f"{name} {case}", flush=True)
            for measured in take(context, name, figure, case, options.patience * 60):
                good &= _record(options, build, context, measured, figure, name, case)
    return 0 if good else 1


def take(context, name, figure, case, patience_s):
    """The lines of a case. Without patience the first try is the last, void or not."""
    end = time.monotonic() + patience_s
    while True:
        validity.wait_until_quiet(end - time.monotonic())
        lines = list(_measured(context, name, figure, case))
        if not any(line.void for line in lines) or time.monotonic() >= end:
            return lines
        context.say("    void: again when the machine is quiet")


def _left_out(figure, case):
    """Why a figure would rather not be measured for a case: what few have installed, say."""
    return figure.left_out(case) if hasattr(figure, "left_out") else ""


def _measured(context, name, figure, case):
    """What the figure yields; a run whose logs cannot be rated is a missed figure, not the end of all figures."""
    try:
        yield from figure.measure(context, case)
    except (Failed, ValueError) as failure:
        context.voids.append(str(failure))
        yield results.Measured(name, case, None, "", results.Goal("==", 0), ())


def _record(options, build, context, measured, figure, name, case):
    in_tree = str(Path(*build.top.parts[-2:]))  # build/bench, wherever the tree is
    command = shlex.join(["python3", "-m", "benchmarks.run", "--build", in_tree, "--only", name, "--cases", case,
                          "--runs", str(options.runs)])
    scope = getattr(figure, "SCOPE", "chain")  # of all cases, or of each
    if isinstance(scope, dict):
        scope = scope[measured.case]
    where = results.where(getattr(figure, "GPUS", "software GPUs"))
    entry = results.line(measured, scope, where, command)
    notes = context.take_notes()
    if notes:
        entry.setdefault("remarks", {}).update(notes)
    results.append((options.out or build.top) / f"{name}.jsonl", entry)
    shown = {key: value for key, value in entry.items() if key not in ("remarks", "where", "command")}
    print(f"  {json.dumps(shown)}", flush=True)
    return measured.ok


def _names(text):
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    sys.exit(main())
