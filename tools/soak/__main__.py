"""Runs for long what `make test` does briefly: `python3 -m tools.soak [--part NAME] [--again]`.

A part is a list of units of a few minutes each, less than an hour together. A unit that passed is not run again on the
same sources, so a soak that was stopped goes on where it was. Each part that came to its end writes a line into
build/soak/soak.jsonl, as figures do. `python3 -m benchmarks.keep build/soak` keeps it. The exit code is 0 if every unit
passed, 1 if one did not.
"""

import datetime
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.runner import results
from benchmarks.runner.catalogue import SOAK
from testing.arguments import Parser
from testing.commands import Build
from testing.processes import interruptible
from tools.soak import parts

ROOT = Path(__file__).resolve().parent.parent.parent


def main(arguments=None):
    parser = Parser(prog="tools.soak", description="Long runs of the tests that are worth it; resumable.")
    parser.add_argument("--build", type=Path, default=Path("build/bench"), help="build directory (%(default)s)")
    parser.add_argument("--part", default="", help=f"one of {', '.join(parts.PARTS)} (all)")
    parser.add_argument("--again", action="store_true", help="run units that have passed, too")
    options = parser.parse_args(arguments)
    if options.part and options.part not in parts.PARTS:
        parser.error(f"--part: expected one of {', '.join(parts.PARTS)}, got {options.part}")
    done = ROOT / "build" / "soak" / _sources()
    done.mkdir(parents=True, exist_ok=True)
    failed = []
    with interruptible():
        for part in [options.part] if options.part else parts.PARTS:
            build = Build(options.build.resolve())
            outcomes = [_outcome(unit, f"{part}-{unit.name}", done, options.again) for unit in parts.PARTS[part](build)]
            failed += [f"{part} {outcome['unit']}" for outcome in outcomes if outcome["fault"]]
            results.append(done.parent / "soak.jsonl", _line(part, outcomes))
    for name in failed:
        print(f"soak: FAILED: {name}", file=sys.stderr)
    return 1 if failed else 0


def _outcome(unit, name, done, again):
    """Runs a unit, unless it has passed on these sources before, and returns its outcome."""
    mark = done / f"{name}.passed"
    if mark.exists() and not again:
        print(f"soak {name}: passed before", flush=True)
        return json.loads(mark.read_text(encoding="utf-8"))
    began = time.monotonic()
    outcome = {"unit": unit.name, "fault": unit.run(), "seconds": round(time.monotonic() - began),
               "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")}
    print(f"soak {name}: {outcome['fault'] or 'passed'} ({outcome['seconds']} s)", flush=True)
    if not outcome["fault"]:
        mark.write_text(json.dumps(outcome), encoding="utf-8")
    return outcome


def _line(part, outcomes):
    """Returns a result of the figure `soak`."""
    bad = {outcome["unit"]: outcome["fault"] for outcome in outcomes if outcome["fault"]}
    goal = results.Goal("==", 0)
    measured = results.Measured(
        "soak", part, len(bad), f"units of {len(outcomes)} that failed", goal, (len(bad),),
        condition=f"part {part} of the soak",
        remarks={"seconds": sum(outcome["seconds"] for outcome in outcomes),
                 "last_run": max((outcome["date"] for outcome in outcomes), default=""), "failed": bad})
    return results.line(measured, "chain", results.where(), f"python3 -m tools.soak --part {part}", SOAK.kind)


def _sources():
    """Returns a name for the sources as they are, committed or not."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout

    # Untracked files count by name: a tree with one more or one less is another tree.
    state = git("rev-parse", "HEAD") + git("diff", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return hashlib.sha256(state).hexdigest()[:16]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
