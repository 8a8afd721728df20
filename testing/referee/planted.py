"""Plants faults that the referee must see, and judges what is compared with them."""

import dataclasses
import tempfile
from pathlib import Path

from testing.referee import compare, lookups, tables
from testing.referee.control_daemon import PROGRAM
from testing.referee.library import Library

# Answers start_server without a user otherwise than NVIDIA's program, and passes all else on.
_OTHERWISE = """#!/bin/sh
case " $* " in *" -d "* | *" -f "*) exec '{program}' "$@" ;; esac
said=$('{program}' "$@"; echo ".$?")
printf '%s' "${{said%.*}}" | sed 's/^A user id (UID) is required to start.*$/Which user?/'
exit "${{said##*.}}"
"""


def with_other_version(binary, build, symbol, change):
    """Returns the verdict on the hook table with another version in the row of `symbol`."""
    rows = [dataclasses.replace(row, version=row.version + change) if row.symbol == symbol else row
            for row in tables.cuda_hooks()]
    return compare.compare(binary, build, rows=rows)


def with_another_answer(binary, build):
    """Returns the verdict on a control daemon of ours that answers one command otherwise."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / PROGRAM
        program.write_text(_OTHERWISE.format(program=build.program(PROGRAM)), encoding="utf-8")
        program.chmod(0o755)
        return compare.compare(binary, build, control=program)


def unwrapped(binary, build, name, symbols):
    """Returns the subjects that differ if a library is preloaded that wraps nothing, for those of `symbols` that
    the binary has."""
    library = Library(build.program("referee_probe"), binary.libraries, name)
    there = sorted(library.places(symbols))
    compared = lookups.compare_paths(library, build.test_library("jumping_clock"), there,
                                     [f"dlsym {symbol}" for symbol in there])
    return [one.subject for one in compared if one.differs], there
