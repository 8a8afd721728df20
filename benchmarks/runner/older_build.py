"""Gives a build directory in which one program is that of an older revision, for controls that run tests."""

import contextlib
import shutil
import tempfile
from pathlib import Path

from benchmarks.runner import older_daemon
from benchmarks.runner.revisions import tree_of
from testing.commands import Build, OLDER_RIGHTS, UNKNOWN_KEYS

_RIGHTS = "manifests/rbac"


@contextlib.contextmanager
def with_older(build, program, revision, unknown=()):
    """Yields a Build whose files are links to those of `build`, but for the one program. The program gets the rights
    of its own revision. `unknown` are the keys of the tests' configuration that it does not know, such as
    "webhook.shm": tests leave them out. So the program runs, and fails by what it does. Raises Failed where the
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
        with tree_of(revision, _RIGHTS) as tree:
            shutil.copytree(tree / _RIGHTS, top / OLDER_RIGHTS)
        (top / UNKNOWN_KEYS).write_text("\n".join(unknown), encoding="ascii")
        yield Build(top)
