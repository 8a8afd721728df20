"""Measure figures: `python3 -m benchmarks.run --build build/bench [--only FIGURE] [--cases A,B] [--runs 5]`.

Each case becomes one line of <build>/<figure>.jsonl. Exit code: 0 if every line is ok, 1 if one is not, 2 for a
command line that names something that does not exist.
"""

import json
import shlex
import sys
import time
from pathlib import Path

from benchmarks.runner import built, catalogue, results
from benchmarks.runner.catalogue import FIGURES
from benchmarks.runner.context import Context
from testing import awake, validity
from testing.arguments import Parser
from testing.commands import Build
from testing.processes import Failed, interruptible


def main(arguments=None):
    parser = Parser(prog="benchmarks.run", description="Measure figures on software GPUs.")
    parser.add_argument("--build", type=Path, default=Path("build/bench"), help="build directory (%(default)s)")
    parser.add_argument("--out", type=Path, help="where <figure>.jsonl goes (the build directory)")
    parser.add_argument("--only", default="", help="figures, separated by commas")
    parser.add_argument("--cases", default="", help="cases of them, separated by commas")
    parser.add_argument("--runs", type=int, default=5,
                        help="runs of a case, where its goal does not ask for more (%(default)s)")
    parser.add_argument("--patience", type=float, default=0.0,
                        help="minutes for which a case waits for a quiet machine, and in which a run that is void is "
                        "made again; a run that failed never is (%(default)s)")
    parser.add_argument("--no-namespaces", action="store_true", help="run all nodes as plain processes")
    parser.add_argument("--keep-logs", type=Path, help="copy the last run's files to this directory")
    parser.add_argument("--list", action="store_true", help="name the figures and their cases, and end")
    options = parser.parse_args(arguments)
    wanted = _names(options.only) or list(FIGURES)
    for name in wanted:
        if name not in FIGURES:
            parser.error(f"--only: expected some of {', '.join(FIGURES)}, got {name}")
    figures = [catalogue.module(name) for name in wanted]
    if options.list:
        for name, figure in zip(wanted, figures):
            print(f"{name}: {', '.join(figure.CASES)}")
        return 0
    cases = _names(options.cases)
    known = {case for figure in figures for case in figure.CASES}
    for case in cases:
        if case not in known:
            parser.error(f"--cases: expected some of {', '.join(sorted(known))}, got {case}")
    if options.runs < 1:
        parser.error(f"--runs: expected at least 1, got {options.runs}")
    # A figure that only reads the sources says so, and can be taken without any program.
    reason = built.why_not(options.build) if any(getattr(each, "NEEDS_BUILD", True) for each in figures) else ""
    if reason:
        parser.error(f"--build: {reason}")
    try:
        with interruptible(), awake.awake():
            return measure(options, list(zip(wanted, figures)), cases)
    except KeyboardInterrupt:
        return 130


def measure(options, figures, cases):
    build = Build(options.build.resolve())
    context = Context(build, lambda text: print(text, flush=True), options.runs, not options.no_namespaces,
                      options.keep_logs)
    results.revision()  # read now: the sources may be edited during the measurement
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
            good &= record(options, build, figure, name, case,
                           *take(context, name, figure, case, options.patience * 60))
    return 0 if good else 1


def take(context, name, figure, case, patience_s):
    """Returns (lines of a case, what is published with each, remarks on the first). A case is measured once. The
    context makes void runs again, but not those that crashed or hung."""
    context.quiet_until = time.monotonic() + patience_s
    validity.wait_until_quiet(patience_s)
    return list(_measured(context, name, figure, case)), *context.take_notes()


def _left_out(figure, case):
    """Returns why a figure is not measured for a case by default, such as software that few have installed; else ""."""
    return figure.left_out(case) if hasattr(figure, "left_out") else ""


def _measured(context, name, figure, case):
    """Yields what the figure yields. A failure is a missed figure, and does not end the measurement."""
    try:
        yield from figure.measure(context, case)
    except (Failed, ValueError) as failure:
        context.fail(str(failure))
        yield results.Measured(name, case, None, "", results.Goal("==", 0), (), conditions={"failed": str(failure)})


def record(options, build, figure, name, case, lines, published, remarks):
    """Writes the lines of a case. Returns whether all of them are good."""
    in_tree = str(Path(*build.top.parts[-2:]))  # build/bench, wherever the tree is
    command = shlex.join(["python3", "-m", "benchmarks.run", "--build", in_tree, "--only", name, "--cases", case,
                          "--runs", str(options.runs)])
    good = True
    for number, measured in enumerate(lines):
        scope = getattr(figure, "SCOPE", "chain")  # for all cases, or for each
        if isinstance(scope, dict):
            scope = scope[measured.case]
        where = results.where(getattr(figure, "GPUS", "software GPUs"))
        entry = results.line(measured, scope, where, command, FIGURES[name].kind) | published
        entry["ok"] = measured.ok and "failures" not in published
        if remarks and number == 0:
            entry["remarks"] = entry.get("remarks", {}) | remarks
        results.append((options.out or build.top) / f"{name}.jsonl", entry)
        shown = {key: value for key, value in entry.items() if key not in ("remarks", "where", "command", "conditions")}
        print(f"  {json.dumps(shown)}", flush=True)
        good &= entry["ok"]
    return good


def _names(text):
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    sys.exit(main())
