"""Makes the programs of an older revision, for controls: by its own build files, and by the compilers of a build."""

import shutil

from benchmarks.runner.revisions import tree_of
from testing import other_tree

DAEMON, EXTENDER = "crossover-deviceplugin", "crossover-extender"


def daemon_of(revision, build):
    """Returns the file of the node daemon of that revision, as program_of does."""
    return program_of(revision, DAEMON, build)


def program_of(revision, name, build):
    """Returns the file of a program of that revision, and makes it first where the build does not have it. That takes
    some minutes of all processors. Raises Failed where the history does not have the revision, or it does not
    build."""
    program = build.program(f"{name}-{revision}")
    if program.exists():
        return program
    with tree_of(revision) as tree:
        folder = other_tree.build(tree, build, [name], f"{name} of {revision}")
        beside = program.with_suffix(".new")
        shutil.copy(folder / "bin" / name, beside)
        beside.rename(program)  # it appears whole
    return program
