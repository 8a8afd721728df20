"""Makes the node daemon of an older revision, for controls: by its own build files, and by the compilers of a build."""

import os
import shutil
import subprocess

from benchmarks.processes import Failed
from benchmarks.revisions import cached, tree_of

_PROGRAM = "crossover-deviceplugin"
_PRESET = "release"  # neither tests nor benchmarks
_NAMES = ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CROSSOVER_CUDA_INCLUDE")


def daemon_of(revision, build):
    """Returns the file of the node daemon of that revision, and makes it first where the build does not have it. That
    takes some minutes of all processors. Raises Failed where the history does not have the revision, or it does not
    build."""
    daemon = build.program(f"{_PROGRAM}-{revision}")
    if daemon.exists():
        return daemon
    known = [f"-D{name}={cached(build, name)}" for name in _NAMES]
    with tree_of(revision) as tree:
        folder = tree / "build" / build.top.name  # as deep as the builds of this tree, so that ccache knows it
        environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
        for command in (["cmake", "--preset", _PRESET, "-B", str(folder), *known],
                        ["cmake", "--build", str(folder), "--target", _PROGRAM, "-j", str(os.cpu_count())]):
            done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"the node daemon of {revision} does not build: {' '.join(command[:2])}: "
                             f"{done.stdout.strip()[-500:]}")
        beside = daemon.with_suffix(".new")
        shutil.copy(folder / "bin" / _PROGRAM, beside)
        beside.rename(daemon)  # it appears whole
    return daemon
