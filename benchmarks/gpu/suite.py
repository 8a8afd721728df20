"""Implements the command line of benchmarks/gpu/run: parts with time limits, results that add up in one file, a table.
Whatever the machine lacks, the run goes on, and the table says what was not measured and why.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.gpu import (auto, driver_parts, exit_parts, first, handover_parts, job_parts, mps_parts, nccl_jobs,
                            parts, stream_parts, torch_parts, torch_rig)
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.rig import Rig, daemon_of_the_machine, mps_program, sweep_mps
from benchmarks.gpu.table import FILE, Table

TOP = Path(__file__).resolve().parents[2]
PARTS = (*driver_parts.PARTS, *handover_parts.PARTS, *stream_parts.PARTS, *mps_parts.PARTS, *job_parts.PARTS,
         *nccl_jobs.PARTS, *exit_parts.PARTS, *torch_parts.PARTS)
_BUILD_LIMIT_S, _ALL_LIMIT_S = 420, 90 * 60
_LEAST_S = 10  # a part that has less time left is not begun


def main(arguments=None):
    options = _parse(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("gpu: stopped", file=sys.stderr)
        return 130


def _parse(arguments):
    known = [first.NAME, *(part.name for part in PARTS)]
    parser = argparse.ArgumentParser(prog="benchmarks/gpu/run", description="Measures what only a GPU can tell. "
                                     f"{first.NAME}: the first ten minutes. Parts: {', '.join(known[1:])}")
    parser.add_argument("--build", type=Path, default=TOP / "build" / "gpu", help="build directory (build/gpu)")
    parser.add_argument("--no-build", action="store_true", help="use what is there")
    parser.add_argument("--out", type=Path, help=f"where {FILE} and the table go (BUILD/results); "
                        "copied to $OUT, where that is set")
    parser.add_argument("--only", default=os.environ.get("ONLY", ""), help="parts, separated by commas (also ONLY=)")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has PyTorch (this one)")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds that a part may take at most")
    parser.add_argument("--software", action="store_true", help="the software GPU in the driver's place: to prove the "
                        "suite, not to measure")
    parser.add_argument("--simgpu-machine", default="", help="more options of the software GPU's machine, "
                        "KEY=VALUE,...: to see that the probes notice")
    parser.add_argument("--simgpu-fault", default="", help="faults of the software GPU in every program, likewise")
    parser.add_argument("--quick", action="store_true", help="short runs that say nothing but that all works")
    options = parser.parse_args(arguments)
    options.parts = [name for name in options.only.split(",") if name]
    for name in options.parts:
        if name not in known:
            parser.error(f"--only: expected some of {', '.join(known)}, got {name}")
    if not options.limit > 0:
        parser.error(f"--limit {options.limit:g}: expected seconds above 0")
    if (options.simgpu_machine or options.simgpu_fault) and not options.software:
        parser.error("--simgpu-machine, --simgpu-fault: expected --software beside them: they are of the software GPU")
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "results").resolve()
    return options


def _interrupt(*_):
    raise KeyboardInterrupt


def _run(options):
    run = Run(options)
    try:
        for name in options.parts or [part.name for part in PARTS]:
            if name == first.NAME:
                run.ask_first()
            else:
                run.part(next(part for part in PARTS if part.name == name), name)
    finally:
        run.end()
    good = run.outcomes and all(outcome == "ok" for outcome in run.outcomes.values())
    return 0 if good else 1


class Run:
    """Runs parts one after the other and keeps their lines. `outcomes` says of each what has become of it."""

    def __init__(self, options):
        self.began, self.options = time.monotonic(), options
        options.out.mkdir(parents=True, exist_ok=True)
        flags = [f"--{name}" for name in ("software", "quick") if getattr(options, name)]
        flags += [f"--{name}={value}" for name, value in (("simgpu-machine", options.simgpu_machine),
                                                         ("simgpu-fault", options.simgpu_fault)) if value]
        self.table, self.outcomes, self.meanings = Table(options.out, flags, _say), {}, []
        self.machine = {} if options.no_build else {"build": _build(options)}
        # Peers are on a software GPU, whose state wants a tmpfs.
        tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        work, disk = (Path(tempfile.mkdtemp(prefix="crossover-gpu-", dir=place)) for place in (tmpfs, None))
        for place in (work, disk):
            place.chmod(0o755)
        self.rig = Rig(options.build, work, disk, options.software, options.quick, options.python, _say, {},
                       options.simgpu_machine, options.simgpu_fault)
        self.machine |= _look_round(self.rig)
        for name, words in self.machine.items():
            _say(f"{name}: {words}")

    def end(self):
        sweep_mps(self.rig)
        for place in (self.rig.work, self.rig.disk):
            shutil.rmtree(place, ignore_errors=True)
        transports = auto.words(self.table.entries(), self.rig.where, self.options.software)
        self.table.finish(self.machine, self.outcomes, [*self.meanings, *transports])

    def part(self, part, name, left_s=None, on_line=lambda line: None):
        """Runs a part. `name` is what --only calls it. `left_s`: the time that is left, where it is less than the
        part's own limit."""
        def keep(line):
            self.table.add(part, name, line, self.rig.where)
            on_line(line)

        left = min(left_s if left_s is not None else _ALL_LIMIT_S, _ALL_LIMIT_S - (time.monotonic() - self.began))
        refused = self.machine.get("build", "ok")
        if refused != "ok":
            self._leave_out(part, f"not run: the build failed: {refused}", keep)
        elif left < _LEAST_S:
            self._leave_out(part, "not run: the time of all parts is over", keep)
        else:
            _say(f"{part.name} ...")
            limit = min(part.limit_s * (2 if self.options.software else 1), left, self.options.limit)
            self.outcomes[part.name] = parts.run(part, self.rig, limit, keep).outcome
        _say(f"{part.name}: {self.outcomes[part.name]}")
        self.table.keep_logs(self.rig, part.name)

    def ask_first(self):
        """Asks the questions of the first ten minutes. An answer may spare later ones."""
        answers = first.Answers()
        for question in first.QUESTIONS:
            reason = question.unless(answers)
            if reason:
                self._leave_out(question.part, f"not asked: {reason}",
                                lambda line, part=question.part: self.table.add(part, first.NAME, line, self.rig.where))
                _say(f"{question.part.name}: {self.outcomes[question.part.name]}")
                continue
            limit_s = first.LIMIT_S * (2 if self.options.software else 1)
            self.part(question.part_for(answers), first.NAME, limit_s - (time.monotonic() - self.began), answers.add)
        self.meanings = first.meanings(answers)

    def _leave_out(self, part, outcome, keep):
        self.outcomes[part.name] = outcome
        for line in parts.unmeasured(part, outcome):
            keep(line)


def _build(options):
    """Builds the programs. Returns "ok", or why they could not be built."""
    _say(f"building {options.build.relative_to(TOP) if options.build.is_relative_to(TOP) else options.build}")
    log = options.out / "build.txt"
    with open(log, "w", encoding="utf-8") as output:
        for command in (["cmake", "--preset", "gpu", "-B", str(options.build)],
                        ["cmake", "--build", str(options.build), "-j", str(os.cpu_count())]):
            try:
                done = subprocess.run(command, cwd=TOP, stdout=output, stderr=subprocess.STDOUT, timeout=_BUILD_LIMIT_S,
                                      check=False)
            except (OSError, subprocess.TimeoutExpired) as fault:
                return f"{shlex.join(command)}: {fault}"
            if done.returncode != 0:
                output.flush()
                said = log.read_text(encoding="utf-8")
                print(said[-3000:], file=sys.stderr)
                return f"{shlex.join(command)} ended with {done.returncode}: {_error_in(said)}"
    return "ok"


def _error_in(said):
    """Returns the line of a build's output that says most about its fault."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "not found:" in line or "error:" in line), lines[-1] if lines else "no word")


def _look_round(rig):
    """Returns what the machine has, in words by name."""
    found = {"user": "root" if os.getuid() == 0 else f"user {os.getuid()}, not root",
             "nvidia-smi": _last_line(rig, "nvidia-smi", "--query-gpu=name,driver_version,compute_mode,memory.total",
                                      "--format=csv,noheader"),
             "nvcc": _last_line(rig, "nvcc", "--version"),
             "PID namespaces": _last_line(rig, "unshare", "--pid", "--fork", "true")}
    try:
        found["MPS"] = mps_program(rig)
    except Cannot as reason:
        found["MPS"] = str(reason)
    directory = daemon_of_the_machine()
    found["MPS of the machine"] = (f"a control daemon runs already, at {directory}; no program of this suite meets it"
                                   if directory else "none runs")
    try:
        found["GPU"] = json.dumps(rig.find_out())
    except Cannot as reason:
        found["GPU"] = f"cannot be used: {reason}"
    found["PyTorch"] = torch_rig.describe(rig)
    return found


def _last_line(rig, *command):
    environment = rig.environment()
    program = shutil.which(command[0], path=environment["PATH"])
    if not program:
        return "not installed"
    try:
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=20, check=False,
                              env=environment)
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"no answer: {fault}"
    lines = (done.stdout + done.stderr).strip().splitlines()
    return f"{'yes' if done.returncode == 0 else 'no'}{': ' + lines[-1].strip() if lines else ''}"


def _say(text):
    print(text, flush=True)
