"""Makes a machine for a run of the suite for real GPUs: a build directory of links, in which the program or the library
that stands for what the machine lacks is another one.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from testing.processes import Failed

_FOLDERS = ("bin", "lib", "simgpu/lib")
_PROGRAMS = ("crossover-arbiter", "crossover-signaller", "gpu_job", "gpu_probe", "gpu_turn_taker", "nccl_peer",
             "nvidia-cuda-mps-control", "trainer")
_LIBRARIES = ("libcrossover.so", "libgpu_empty_nccl.so")
_LACKING_DRIVER = "tests/process/benchmarks/lacking/libcuda.so.1"
_LIMIT_S = 240


class Stage:
    """Holds a machine for one run, as a context: a build directory, and what the caller's environment has. `user` runs
    the suite. `around` is the command under which it runs."""

    def __init__(self, build):
        self.real, self.environment, self.arguments, self.user, self.around = Path(build), {}, [], None, []
        self.made = None  # an empty folder outside of the stage, which goes with it

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="gpu-suite-")
        self.top = Path(self._folder.name)
        self.top.chmod(0o755)
        self.build, self.out, self.bin = self.top / "build", self.top / "out", self.top / "bin"
        for folder in _FOLDERS:
            (self.build / folder).mkdir(parents=True)
            for file in (self.real / folder).glob("*"):
                if folder != "bin" or file.name in _PROGRAMS:
                    (self.build / folder / file.name).symlink_to(file.resolve())
        for folder in (self.out, self.bin):
            folder.mkdir()
            folder.chmod(0o777)
        return self

    def __exit__(self, *exc):
        self._folder.cleanup()
        if self.made:
            self.made.rmdir()

    def script(self, path, text):
        """Puts a shell script at `path`, in place of what was there. Returns its path."""
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def drive_by(self, lack):
        """Puts the driver that lacks something in the software GPU's place."""
        driver = self.real / _LACKING_DRIVER
        if not driver.exists():
            raise Failed(f"{driver} is not built")
        libraries = self.build / "simgpu" / "lib"
        (libraries / "libcuda.so.1").rename(libraries / "libcuda_behind.so")
        (libraries / "libcuda.so.1").symlink_to(driver)
        self.environment["GPU_SUITE_LACK"] = lack

    def copy(self):
        """Puts copies in the place of links, for a user who may not go where they lead."""
        for folder in _FOLDERS:
            for file in (self.build / folder).glob("*"):
                real = file.resolve()
                if folder == "lib" and file.name not in _LIBRARIES:
                    file.unlink()
                elif file.is_symlink():
                    file.unlink()
                    shutil.copy(real, file)
                    file.chmod(0o755)

    def _python(self):
        """Returns an interpreter that the user of this stage may run. Raises Failed where there is none."""
        if self.user is None:
            return sys.executable
        for python in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
            with contextlib.suppress(OSError):
                subprocess.run([python, "-c", ""], user=self.user, group=self.user, extra_groups=[], cwd="/",
                               check=True)
                return python
        raise Failed(f"no python3 that user {self.user} may run")

    def run(self, tree, parts, out=None):
        """Runs the suite of a tree, with its table in `out`, or in the stage's own folder. Returns (exit code, what it
        said)."""
        environment = {name: value for name, value in os.environ.items() if name not in ("ONLY", "OUT")}
        environment |= {"PATH": f"{self.bin}:{environment['PATH']}", **self.environment}
        if self.user is not None:
            environment["HOME"] = str(self.out)
        command = [*self.around, self._python(), "-B", str(tree / "benchmarks" / "gpu" / "run"), "--software",
                   "--quick", "--build", str(self.build), "--out", str(out or self.out), "--only", ",".join(parts),
                   *self.arguments]
        try:
            done = subprocess.run(command, env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=_LIMIT_S, check=False, user=self.user, group=self.user,
                                  extra_groups=None if self.user is None else [])
        except subprocess.TimeoutExpired as late:
            return None, str(late.stdout)
        return done.returncode, done.stdout
