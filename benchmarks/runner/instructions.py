"""Counts the instructions of a program. The processor counts them if it can; else valgrind does, which runs the
program some fifty times slower."""

import re
import shutil
import subprocess

from testing.processes import Failed


def counted(command, environment):
    """Returns (instructions, what counted them). Raises Failed if neither can count, or if the program fails."""
    return _by_processor(command, environment) or _by_valgrind(command, environment)


def _by_processor(command, environment):
    """Returns None if there is no perf or it has no counter here, as on most virtual machines."""
    if shutil.which("perf") is None:
        return None
    done = _run(["perf", "stat", "-x", ",", "-e", "instructions:u", "--", *command], environment)
    found = re.search(r"^(\d+),,instructions:u", done.stderr, re.MULTILINE)
    return (int(found.group(1)), "perf stat -e instructions:u") if found else None


def _by_valgrind(command, environment):
    if shutil.which("valgrind") is None:
        raise Failed("instructions cannot be counted: perf has no counter here, and valgrind is not installed")
    done = _run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise Failed(f"valgrind counted nothing: {done.stderr[-300:]}")
    return int(found.group(1)), "valgrind --tool=callgrind"


def _run(command, environment):
    done = subprocess.run([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{command[0]} ... {command[-1]} ended with {done.returncode}: {done.stderr[-300:]}")
    return done
