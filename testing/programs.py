"""Runs measuring programs that print JSON lines, and ends what they leave behind, as a session does."""

import json
import subprocess

from testing.pairs import MARK
from testing.processes import MARK as VARIABLE
from testing.processes import Failed, dying_with_parent


def json_lines(command, environment, timeout_s=120):
    """Returns the JSON objects that a program prints. Raises Failed, with its last words, if it fails."""
    return json_lines_of_all([(command, environment)], timeout_s)[0]


def json_lines_of_all(programs, timeout_s=120):
    """Does the same for (command, environment) pairs that run at once. Returns the answers in their order."""
    running = [subprocess.Popen(dying_with_parent([str(part) for part in command]), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**environment, VARIABLE: MARK}) for command, environment in programs]
    try:
        return [_answers(process, command, timeout_s) for process, (command, _) in zip(running, programs)]
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _answers(process, command, timeout_s):
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} still runs after {timeout_s} s") from None
    if process.returncode != 0:
        words = " | ".join((errors or output).strip().splitlines()[-3:])
        raise Failed(f"{command[0]} ended with code {process.returncode}: {words}")
    return [json.loads(row) for row in output.splitlines() if row.startswith("{")]
