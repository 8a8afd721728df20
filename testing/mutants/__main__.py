"""Tries mutations: `python3 -m testing.mutants [--count 100] [--seed REVISION] [--only FILE,...] [--without TEST_FILE]`

It draws lines of the product at random, changes one thing on each (testing/mutants/operators.py), and says which
changes no unit test sees. It works in a copy of the working tree, build/mutants/tree. A run that was stopped continues
where it was. The exit code is 0 however many mutations survive, and 1 if the tree as it is fails.
"""

import os
import sys

from testing.arguments import Parser
from testing.mutants import draw, explained
from testing.mutants.runs import ROOT, Plan, revision, run
from testing.mutants.trial import Failed
from testing.processes import interruptible


def main(arguments=None):
    parser = Parser(prog="testing.mutants", description="Small changes of the code that the unit tests should see.")
    parser.add_argument("--count", type=int, default=100, help="how many that compile (%(default)s)")
    parser.add_argument("--seed", default="", help="what the draw depends on (the revision)")
    parser.add_argument("--only", default="", help="folders or files, separated by commas (all)")
    parser.add_argument("--without", default="", help="a test file that is left out: a control")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilations at the same time (%(default)s)")
    parser.add_argument("--list", action="store_true", help="show what is drawn, refused or not, and end")
    options = parser.parse_args(arguments)
    if options.count < 1:
        parser.error(f"--count {options.count}: expected at least 1")
    folders = tuple(name for name in options.only.split(",") if name) or draw.FOLDERS
    plan = Plan(options.count, options.seed, folders, options.without)
    try:
        plan.suites()
        if options.list:
            return _list(plan)
        with interruptible():
            return _run(plan, options.jobs)
    except ValueError as error:
        parser.error(str(error))
    except Failed as failure:
        print(f"mutants: {failure}", file=sys.stderr)
        return 1


def _list(plan):
    for mutation in draw.drawn(draw.sources(ROOT, plan.folders), plan.seed or revision())[:plan.count]:
        print(f"{mutation.file}:{mutation.line} {mutation.operator}: {mutation.before} => {mutation.after}")
    return 0


def _run(plan, jobs):
    tried = run(plan, jobs, lambda text: print(text, flush=True))
    survivors = [mutation for mutation, outcome in tried if outcome.end == "survived"]
    print(f"{len(survivors)} of {len(tried)} survive")
    reasons = explained.read()
    for mutation in survivors:
        print(f"  {mutation.file}:{mutation.line} {mutation.operator}: {mutation.before} => {mutation.after}: "
              f"{explained.of(mutation, reasons) or 'not explained'}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
