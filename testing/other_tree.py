"""Builds programs of another tree of the project, such as an older revision, by its own build files and by the
compilers of a build of this tree."""

import os
import subprocess

from testing.processes import Failed

_PRESET = "release"  # neither tests nor benchmarks
_NAMES = ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CROSSOVER_CUDA_INCLUDE")


def build(tree, like, targets, what):
    """Builds targets of a tree, a Path, with the compilers of the Build `like`. Returns the build directory, which is
    in the tree. It takes some minutes of all processors. Raises Failed, which names `what`, if it does not build."""
    folder = tree / "build" / like.top.name  # as deep as the builds of this tree, so that ccache knows it
    known = [f"-D{each}={like.configured(each)}" for each in _NAMES]
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    for command in (["cmake", "--preset", _PRESET, "-B", str(folder), *known],
                    ["cmake", "--build", str(folder), "--target", *targets, "-j", str(os.cpu_count())]):
        done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{what} does not build: {' '.join(command[:2])}: {done.stdout.strip()[-500:]}")
    return folder
