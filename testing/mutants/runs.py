"""Runs a number of mutations of a draw, each tried once on the same sources, even if the run is stopped in between."""

import hashlib
import json
import re
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from testing.mutants import draw
from testing.mutants.operators import Mutation
from testing.mutants.trial import Outcome, Trials

ROOT = Path(__file__).resolve().parents[2]
WHERE = ROOT / "build" / "mutants"
_SUITE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,", re.MULTILINE)


@dataclass(frozen=True)
class Plan:
    """Describes a run. `without` is a test file that is left out, as if it did not exist."""

    count: int = 100
    seed: str = ""
    folders: tuple = draw.FOLDERS
    without: str = ""

    def suites(self):
        """Returns the test suites of the file that is left out."""
        if not self.without:
            return ()
        path = ROOT / self.without
        found = sorted(set(_SUITE.findall(path.read_text(encoding="utf-8")))) if path.is_file() else []
        if not found:
            raise ValueError(f"{self.without}: expected a file with tests, got none")
        return tuple(found)


def revision():
    return _git("rev-parse", "HEAD").strip()


def run(plan, jobs=2, say=print):
    """Tries the mutations of the draw until `count` have compiled. Returns [(mutation, outcome)] of these."""
    candidates = draw.drawn(draw.sources(ROOT, plan.folders), plan.seed or revision())
    suites = plan.suites()
    WHERE.mkdir(parents=True, exist_ok=True)
    listed = _files()
    kept = WHERE / f"{_key(listed, suites)}.jsonl"
    known = _read(kept)
    trials, tried = None, []
    for mutation in candidates:
        if len(tried) == plan.count:
            break
        outcome = known.get(mutation)
        if outcome is None:
            if trials is None:
                copy_tree(listed, WHERE / "tree")
                trials = Trials(WHERE / "tree", plan.folders, jobs, suites)
            began = time.monotonic()
            outcome = trials.try_one(mutation)
            seconds = time.monotonic() - began
            _append(kept, mutation, outcome, seconds)
            say(f"{outcome.end:8} {mutation.file}:{mutation.line} {mutation.operator} by {outcome.by or 'none'}, "
                f"{seconds:.0f} s: {mutation.before} => {mutation.after}")
        if outcome.counts:
            tried.append((mutation, outcome))
    return tried


def seconds_of(plan):
    """Returns how long all trials of these sources took, in seconds."""
    kept = WHERE / f"{_key(_files(), plan.suites())}.jsonl"
    return sum(json.loads(line)["seconds"] for line in kept.read_text(encoding="utf-8").splitlines())


def copy_tree(files, copy):
    """Makes a folder hold these files of the tree, and keeps what was built there. Files that are the same keep their
    time."""
    for name in files:
        source, target = ROOT / name, copy / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(source.stat().st_mode & 0o777)
    for path in copy.rglob("*"):
        name = str(path.relative_to(copy))
        if path.is_file() and not name.startswith("build/") and name not in files:
            path.unlink()


def _files():
    """Returns the files of the working tree, {name: None}, in order."""
    names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return dict.fromkeys(sorted(name for name in names if name and (ROOT / name).is_file()))


def _key(files, suites):
    """Returns a key of all that the outcome of a trial depends on: all files but pages, Python programs and data."""
    digest = hashlib.sha256(" ".join(suites).encode())
    for name in files:
        if not name.endswith((".md", ".py", ".jsonl", ".txt")) or name.endswith("CMakeLists.txt"):
            digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()[:16]


def _read(kept):
    """Returns {mutation: outcome} of earlier runs."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else []
    entries = map(json.loads, lines)
    return {Mutation(**entry["mutation"]): Outcome(**entry["outcome"]) for entry in entries}


def _append(kept, mutation, outcome, seconds):
    entry = {"mutation": asdict(mutation), "outcome": asdict(outcome), "seconds": round(seconds, 1)}
    with open(kept, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
