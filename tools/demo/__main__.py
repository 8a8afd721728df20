"""Command line of the demo: `python3 -m tools.demo [--build DIR] [--down]`."""

import shutil
import sys
import time
from pathlib import Path

from benchmarks.arguments import Parser
from benchmarks.commands import Build
from benchmarks.processes import Failed, find_marked, interruptible, kill_marked
from tools.demo import demo, table


def main():
    parser = Parser(prog="demo", description="Two training jobs take turns on software GPUs.")
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="build directory (%(default)s)")
    parser.add_argument("--out", type=Path, help="where report.html and trace.json go (<build>/demo)")
    parser.add_argument("--no-namespaces", action="store_true", help="run both nodes as plain processes")
    parser.add_argument("--keep-logs", action="store_true", help="keep every log of the runs under <out>/logs")
    parser.add_argument("--down", action="store_true", help="remove what a killed demo may have left, and end")
    options = parser.parse_args()
    if options.down:
        return down()
    build = Build(options.build.resolve())
    if build.missing():
        print(f"demo: --build {options.build}: not built yet, missing {', '.join(build.missing())}", file=sys.stderr)
        return 2
    try:
        with interruptible():
            return show(build, options)
    except KeyboardInterrupt:
        print("demo: interrupted; nothing is left behind", file=sys.stderr)
        return 130
    except (Failed, ValueError) as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1


def show(build, options):
    began = time.monotonic()
    out = (options.out or build.top / "demo").resolve()
    print("Two jobs of four ranks, two nodes with two software GPUs each.", flush=True)
    course = demo.Demo(build, lambda line: print(line, flush=True), not options.no_namespaces,
                       out / "logs" if options.keep_logs else None)
    outcome, ours = course.run()
    page, trace = demo.write(outcome, ours, out)
    print("\n" + table.text(outcome) + "\n")
    for line in outcome.conditions:
        print(f"  {line}")
    print(f"\nreport: {page}\ntrace:  {trace} (open with https://ui.perfetto.dev)")
    print(f"took {time.monotonic() - began:.0f} s")
    for fault in outcome.faults:
        print(f"demo: {fault}", file=sys.stderr)
    return 1 if outcome.faults else 0


def down():
    """End what carries the demo's mark. Namespaces and their interfaces end with their processes."""
    killed = kill_marked(demo.MARK)
    left = [p for base in ("/dev/shm", "/tmp") for p in Path(base).glob(f"{demo.MARK}-*")]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    print(f"demo-down: {killed} processes ended, {len(left)} directories removed")
    return 1 if find_marked(demo.MARK) else 0


if __name__ == "__main__":
    sys.exit(main())
