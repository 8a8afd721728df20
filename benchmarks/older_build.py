"""Gives a build directory in which one program is that of an older revision, for controls that run tests."""

import contextlib
import tempfile
from pathlib import Path

from benchmarks import older_daemon
from testing.commands import Build


@contextlib.contextmanager
def with_older(build, program, revision):
    """Yields a Build whose files are links to those of `build`, but for the one program. Raises Failed where the
    program cannot be made."""
    older = older_daemon.program_of(revision, program, build)
    with tempfile.TemporaryDirectory(prefix="crossover-older-build-") as folder:
        top = Path(folder)
        for each in build.top.iterdir():
            if each.name != "bin":
                (top / each.name).symlink_to(each)
        (top / "bin").mkdir()
        for each in (build.top / "bin").iterdir():
            (top / "bin" / each.name).symlink_to(older if each.name == program else each)
        yield Build(top)
