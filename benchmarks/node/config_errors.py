"""config_errors counts the mistakes in a configuration that are not told with file, line, key, what is expected and the
value, or that pass.

The keys are those that the program itself names as expected, map by map, so a new key is tried without being listed
here. Each key gets values of the wrong kind, texts that mean nothing and numbers just outside its bounds. Each map gets
a key that it does not know and a key that stands twice.

Control: the same messages, compared with the line above the mistake.
"""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = ("standalone", "node")
_UNKNOWN = "no_such_key"
_NAMED = "configurations"  # a map whose keys are names
# These keys take any text that is not empty.
_FREE = ("node.name", "node.namespace", "node.cdi_kind", "node.mps_control", "node.api_server.server")
_COMMENT = "# something above\n"


@dataclass(frozen=True)
class _Mistake:
    text: str
    key: str
    line: int
    value: str = ""  # as the message prints it; empty where the message names no value


def measure(context, case):
    program = context.build.daemon
    flags = ["--standalone"] if case == "standalone" else []
    with tempfile.TemporaryDirectory() as directory:
        checker = _Checker(program, flags, Path(directory) / "config.yaml")
        mistakes = list(_mistakes(checker, ()))
        said = [checker.says(mistake.text) for mistake in mistakes]
    bad = [f"{m.key}: {m.text!r}: {s}" for m, s in zip(mistakes, said) if not _told(m, s, m.line)]
    wrong = sum(not _told(m, s, m.line - 1) for m, s in zip(mistakes, said))
    yield Measured("config_errors", case, len(bad), "mistakes not told", GOAL, (len(mistakes),),
                   controlled(GOAL, "the line above", wrong),
                   f"{len(mistakes)} mistakes, of all keys that the program names", {"not told": bad[:20]})


class _Checker:
    def __init__(self, program, flags, file):
        self._command = [str(program), *flags, "--check", "--config", str(file)]
        self._file = file

    def says(self, text):
        """Returns the program's message without the program's and the file's names, or "" where it accepts the file."""
        self._file.write_text(text, encoding="utf-8")
        done = subprocess.run(self._command, capture_output=True, text=True, check=False)
        said = done.stderr.strip().partition(": ")[2]
        if done.returncode == 0:
            return ""
        return said.removeprefix(str(self._file)) if done.returncode == 2 else f"exit code {done.returncode}"

    def keys_of(self, path):
        """Returns the keys of the map at `path`, or an empty list where there is no map."""
        said = self.says(_nested((*path, _UNKNOWN), "1"))
        found = re.search(r"unknown key; expected one of (.*)$", said)
        return found.group(1).split(", ") if found else []


def _nested(path, value):
    """Returns a file that has `value` at `path`, one key a line, below a comment."""
    lines = [f"{'  ' * depth}{key}:" for depth, key in enumerate(path)]
    return _COMMENT + "\n".join(lines) + f" {value}\n"


def _mistakes(checker, path):
    keys = checker.keys_of(path)
    dotted = ".".join(path)
    yield _Mistake(_nested((*path, _UNKNOWN), "1"), ".".join((*path, _UNKNOWN)), 2 + len(path))
    if path:
        for value, printed in (("3", "3"), ("[1]", "a list")):
            yield _Mistake(_nested(path, value), dotted, 1 + len(path), printed)
    for key in keys:
        here = (*path, key)
        if key == _NAMED:
            yield from _mistakes(checker, (*here, "some"))
        elif checker.keys_of(here):
            yield from _mistakes(checker, here)
        else:
            yield from _mistakes_of_value(checker, here)


def _mistakes_of_value(checker, path):
    name, line = ".".join(path), 1 + len(path)
    yield _Mistake(_nested(path, "{a: 1}"), name, line, "a map")
    yield _Mistake(_nested(path, '""'), name, line, '""')
    yield _Mistake(_nested(path, "[x]"), name, line)
    if name.removeprefix(f"{_NAMED}.some.") not in _FREE:
        yield _Mistake(_nested(path, "it/means nothing"), name, line, "it/means nothing")
    twice = _nested(path, "1") + f"{'  ' * (len(path) - 1)}{path[-1]}: 1\n"
    if not checker.says(_nested(path, "1")):
        yield _Mistake(twice, name, line + 1)
    said = checker.says(_nested(path, "it/means nothing"))
    bounds = re.search(r"(\d+) to (\d+)(?: \(\w+\))?, got ", said)
    for number in (int(bounds.group(1)) - 1, int(bounds.group(2)) + 1) if bounds else ():
        yield _Mistake(_nested(path, str(number)), name, line, str(number))


def _told(mistake, said, line):
    """Tells whether `said` names line, key, what is expected and the value. A message about an unknown key or a key
    that stands twice has no value."""
    head = f":{line}: {mistake.key}: "
    if not said.startswith(head):
        return False
    rest = said[len(head):]
    if mistake.value:
        return re.fullmatch(f"expected .{{4,}}, got {re.escape(mistake.value)}", rest) is not None
    return re.fullmatch("stands twice|unknown key; expected one of .+|expected .+, got .+", rest) is not None
