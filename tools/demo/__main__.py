"""Implements the command line of the demo: `python3 -m tools.demo [--build DIR] [--torch] [--stay] [--down]`."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

from testing.arguments import Parser
from testing.cluster.rig import Refused, removal
from testing.commands import Build
from testing.processes import Failed, find_marked, interruptible, kill_marked, until_interrupted
from tools.demo import demo, table
from tools.demo.cluster import ClusterDemo
from tools.demo.digits import Digits
from tools.demo.processes import ProcessDemo
from tools.demo.pytorch import PyTorch


def main():
    parser = Parser(prog="demo", description="Two training jobs take turns on software GPUs, in a Kubernetes cluster "
                    "on this machine; if no cluster can be started, as plain processes.")
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="build directory (%(default)s)")
    parser.add_argument("--out", type=Path, help="where report.html and trace.json go (<build>/demo, demo-torch)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--cluster", action="store_true", help="in a cluster; fail without one")
    where.add_argument("--torch", action="store_true", help="unmodified PyTorch, in a cluster; fail without one")
    where.add_argument("--processes", action="store_true", help="as plain processes, without a cluster")
    parser.add_argument("--stay", action="store_true", help="let the cluster stand until Ctrl-C, to look around")
    parser.add_argument("--no-namespaces", action="store_true", help="with --processes: without namespaces")
    parser.add_argument("--keep-logs", action="store_true", help="with --processes: keep every log under <out>/logs")
    parser.add_argument("--down", action="store_true", help="remove what a killed demo may have left, and end")
    options = parser.parse_args()
    build = Build(options.build.resolve())
    if build.missing() and not options.down:
        print(f"demo: --build {options.build}: not built yet, missing {', '.join(build.missing())}", file=sys.stderr)
        return 2
    try:
        if options.down:
            return down()
        with interruptible():
            return show(build, options)
    except KeyboardInterrupt:
        print("demo: interrupted; " + ("some of it may still be there: --down again removes it" if options.down
                                       else "nothing is left behind"), file=sys.stderr)
        return 130
    except (Failed, ValueError, OSError) as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1


def show(build, options):
    """Runs the demo in a cluster if one can be started, else as processes. A fault once the cluster stands is a
    failure, and no reason to run without a cluster."""
    began = time.monotonic()
    work = PyTorch(build) if options.torch else Digits()
    say(work.title)
    with contextlib.ExitStack() as stack:
        if not options.processes:
            try:
                course = stack.enter_context(ClusterDemo(build, say, work))
            except (Refused, Failed, OSError, subprocess.SubprocessError) as failure:
                if options.cluster or options.torch:
                    raise Failed(f"no cluster can be started here: {failure}") from failure
                say(f"No cluster can be had here: {failure}\nSo the jobs run as plain processes, without Kubernetes.")
            else:
                return run(course, build, options, began)
        logs = folder(build, options) / "logs" if options.keep_logs else None
        return run(ProcessDemo(build, say, not options.no_namespaces, logs), build, options, began)


def say(line):
    print(line, flush=True)


def folder(build, options):
    return (options.out or build.top / ("demo-torch" if options.torch else "demo")).resolve()


def run(course, build, options, began):
    """Runs the demo, prints and writes its outcome, and returns the exit code."""
    outcome, turns = course.run()
    page, trace = demo.write(outcome, turns, folder(build, options))
    print("\n" + table.text(outcome) + "\n")
    for line in outcome.conditions:
        print(f"  {line}")
    print(f"\nreport: {page}\ntrace:  {trace} (open with https://ui.perfetto.dev)")
    print(f"took {time.monotonic() - began:.0f} s")
    for fault in outcome.faults:
        print(f"demo: {fault}", file=sys.stderr)
    if options.stay and isinstance(course, ClusterDemo):
        stay(course)
    return 1 if outcome.faults else 0


def stay(course):
    """Lets the user look around until Ctrl-C."""
    print("\nThe cluster stands until Ctrl-C:\n")
    for line in course.how_to_look():
        print(f"  {line}")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        until_interrupted()


def down():
    """Ends the demos that run, then the processes that carry the demo's mark, and removes its directories. Namespaces
    and their interfaces end with their processes."""
    ended = removal.end_owners(f"{demo.MARK}-")
    killed = kill_marked(demo.MARK)
    directories = removal.directories(f"{demo.MARK}-")
    left = [what for directory in directories for what in removal.clean(directory)]
    print(f"demo-down: ended demos: {ended}, ended processes: {killed}, removed directories: {len(directories)}")
    for what in left:
        print(f"demo-down: {what} could not be removed", file=sys.stderr)
    return 1 if left or find_marked(demo.MARK) else 0


if __name__ == "__main__":
    sys.exit(main())
