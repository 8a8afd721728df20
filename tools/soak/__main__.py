"""Long runs of what `make test` does briefly: `python3 -m tools.soak [--part NAME] [--again]`.

A part is a list of units of a few minutes each, less than an hour together. A unit that passed is not run again on the
same sources: a soak that was stopped goes on where it was. Exit code 0 if every unit passed, 1 if one did not.
"""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.arguments import Parser
from benchmarks.commands import Build
from benchmarks.processes import interruptible
from tools.soak import parts

ROOT = Path(__file__).resolve().parent.parent.parent


def main(arguments=None):
    parser = Parser(prog="tools.soak", description="Long runs of the tests that are worth it; resumable.")
    parser.add_argument("--build", type=Path, default=Path("build/bench"), help="build directory (%(default)s)")
    parser.add_argument("--part", default="", help=f"one of {', '.join(parts.PARTS)} (all)")
    parser.add_argument("--again", action="store_true", help="run units that have passed, too")
    options = parser.parse_args(arguments)
    if options.part and options.part not in parts.PARTS:
        parser.error(f"--part {options.part}: no such part; there are {', '.join(parts.PARTS)}")
    done = ROOT / "build" / "soak" / _sources()
    done.mkdir(parents=True, exist_ok=True)
    failed = []
    with interruptible():
        for part in [options.part] if options.part else parts.PARTS:
            for unit in parts.PARTS[part](Build(options.build.resolve())):
                if not _passes(unit, f"{part}-{unit.name}", done, options.again):
                    failed.append(f"{part} {unit.name}")
    for name in failed:
        print(f"soak: FAILED: {name}", file=sys.stderr)
    return 1 if failed else 0


def _passes(unit, name, done, again):
    mark = done / f"{name}.passed"
    if mark.exists() and not again:
        print(f"soak {name}: passed before", flush=True)
        return True
    began = time.monotonic()
    fault = unit.run()
    print(f"soak {name}: {fault or 'passed'} ({time.monotonic() - began:.0f} s)", flush=True)
    if not fault:
        mark.touch()
    return not fault


def _sources():
    """Names the sources as they are, committed or not."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout

    # Untracked files by name: one that is there and was not, or the other way round, is another tree.
    state = git("rev-parse", "HEAD") + git("diff", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return hashlib.sha256(state).hexdigest()[:16]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
