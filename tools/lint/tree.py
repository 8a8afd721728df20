"""Gives the checks of this folder the files, their includes, the compile commands, and a cache of passes."""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


@functools.lru_cache(maxsize=None)
def listed():
    """Returns the files of the working tree, relative to the top: tracked, or new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file()})


def files(*suffixes):
    return [name for name in listed() if name.endswith(suffixes)]


@functools.lru_cache(maxsize=None)
def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def includes(path):
    """Returns [(quote, name, line)], where quote is '"' or '<'."""
    text = read(path)
    return [(m.group(1), m.group(2), text.count("\n", 0, m.start(2)) + 1) for m in INCLUDE.finditer(text)]


@functools.lru_cache(maxsize=None)
def closure(path):
    """Returns the file and every file of the tree that it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        current = todo.pop()
        if current in seen or not (ROOT / current).is_file():
            continue
        seen.add(current)
        for _, name, _ in includes(current):
            beside = os.path.normpath(os.path.join(os.path.dirname(current), name))
            todo += [name, beside]
    return frozenset(seen)


def compile_commands(build_dir):
    """Returns {path relative to the top: argument list} from a configured build directory. A source that is compiled
    in a batch alone (cmake/batches.cmake) has the command of that batch."""
    commands, batches = {}, {}
    for entry in json.loads((ROOT / build_dir / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT):
            name, command = str(path.relative_to(ROOT)), shlex.split(entry["command"])
            commands[name] = command
            if path.parent.name == "batches":
                batches.update((source, command) for _, source, _ in includes(name))
    return batches | commands


def batches(build_dir):
    """Returns the files of batches, relative to the top."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / build_dir).glob("**/batches/*.cc"))


def batched(path):
    """Returns the sources in a batch."""
    return [name for _, name, _ in includes(path)]


def compiled_by(command):
    """Returns the file that a command compiles, relative to the top."""
    return str(pathlib.Path(command[command.index("-c") + 1]).relative_to(ROOT))


def flags(command):
    """Returns the preprocessor and language flags of a compile command."""
    kept, take_next = [], False
    for word in command[1:]:
        if take_next:
            kept.append(word)
            take_next = False
        elif word in ("-I", "-isystem", "-D", "-include"):
            kept.append(word)
            take_next = True
        elif word.startswith(("-I", "-D", "-std=", "-isystem")):
            kept.append(word)
    return kept


def portable(words):
    """Returns the words without the path of this checkout: a cache of passes outlives a checkout."""
    return [word.replace(str(ROOT), "") for word in words]


class PassCache:
    """Remembers, outside the checkout, which inputs passed a check. Inputs that failed are checked again."""

    def __init__(self, name):
        base = os.environ.get("CROSSOVER_CACHE") or os.path.expanduser("~/.cache/crossover")
        self._dir = pathlib.Path(base, "lint", name)
        self._dir.mkdir(parents=True, exist_ok=True)

    def _path(self, path, salt):
        digest = hashlib.sha256(repr(salt).encode())
        for part in sorted(closure(path)):
            digest.update(f"{part}\0".encode() + read(part).encode())
        return self._dir / digest.hexdigest()

    def passed(self, path, salt):
        return self._path(path, salt).exists()

    def add(self, path, salt):
        self._path(path, salt).touch()


def check_all(name, paths, salt_of, check):
    """Runs check(path) on all cores, over paths not known to pass. It returns complaints, or "". Returns the exit
    code."""
    cache = PassCache(name)
    todo = [path for path in paths if not cache.passed(path, salt_of(path))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, complaints in zip(todo, pool.map(check, todo)):
            if complaints:
                failed += 1
                print(complaints.rstrip(), file=sys.stderr)
            else:
                cache.add(path, salt_of(path))
    print(f"{name}: {len(paths)} files, {len(todo)} checked now, {failed} with complaints")
    return 1 if failed else 0
