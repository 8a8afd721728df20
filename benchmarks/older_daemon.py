"""Makes the programs of an older revision, for controls: by its own build files, and by the compilers of a build."""

import os
import shutil
import subprocess

from benchmarks.revisions import cached, tree_of
from testing.processes import Failed

DAEMON, EXTENDER = "crossover-deviceplugin", "crossover-extender"
_PRESET = "release"  # neither tests nor benchmarks
_NAMES = ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CROSSOVER_CUDA_INCLUDE")


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
    known = [f"-D{each}={cached(build, each)}" for each in _NAMES]
    with tree_of(revision) as tree:
        folder = tree / "build" / build.top.name  # as deep as the builds of this tree, so that ccache knows it
        environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
        for command in (["cmake", "--preset", _PRESET, "-B", str(folder), *known],
                        ["cmake", "--build", str(folder), "--target", name, "-j", str(os.cpu_count())]):
            done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"{name} of {revision} does not build: {' '.join(command[:2])}: "
                             f"{done.stdout.strip()[-500:]}")
        beside = program.with_suffix(".new")
        shutil.copy(folder / "bin" / name, beside)
        beside.rename(program)  # it appears whole
    return program
