"""Implements the command line of benchmarks/gpu/run: parts with time limits, results that add up in one file, a table.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import replace
from pathlib import Path

from benchmarks import results
from benchmarks.gpu import driver_parts, job_parts, nccl_jobs, torch_parts
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.rig import Rig, sweep_mps
from benchmarks.kept import newest

TOP = Path(__file__).resolve().parents[2]
PARTS = driver_parts.PARTS + job_parts.PARTS + nccl_jobs.PARTS + torch_parts.PARTS  # (name, limit in seconds, function)
_BUILD_LIMIT_S, _ALL_LIMIT_S = 420, 25 * 60
_FILE = "gpu.jsonl"


def main(arguments=None):
    options = _parse(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("gpu: stopped", file=sys.stderr)
        return 130


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="benchmarks/gpu/run", description="Measures what only a GPU can tell. Parts: "
                                     + ", ".join(name for name, *_ in PARTS))
    parser.add_argument("--build", type=Path, default=TOP / "build" / "gpu", help="build directory (build/gpu)")
    parser.add_argument("--no-build", action="store_true", help="use what is there")
    parser.add_argument("--out", type=Path, help=f"where {_FILE} and the table go (BUILD/results); "
                        "copied to $OUT, where that is set")
    parser.add_argument("--only", default=os.environ.get("ONLY", ""), help="parts, separated by commas (also ONLY=)")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has PyTorch (this one)")
    parser.add_argument("--software", action="store_true", help="the software GPU in the driver's place: to prove the "
                        "suite, not to measure")
    parser.add_argument("--quick", action="store_true", help="short runs that say nothing but that all works")
    options = parser.parse_args(arguments)
    known = [name for name, *_ in PARTS]
    options.parts = [name for name in options.only.split(",") if name]
    for name in options.parts:
        if name not in known:
            parser.error(f"--only {name}: no such part; there are {', '.join(known)}")
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "results").resolve()
    return options


def _interrupt(*_):
    raise KeyboardInterrupt


def _run(options):
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.no_build:
        _build(options)
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    work = Path(tempfile.mkdtemp(prefix="crossover-gpu-", dir=base))
    rig = Rig(options.build, work, options.software, options.quick, options.python, _say)
    outcomes = {}
    try:
        _preflight(rig)
        for name, limit_s, run in PARTS:
            if options.parts and name not in options.parts:
                continue
            left = _ALL_LIMIT_S - (time.monotonic() - began)
            if left < 10:
                outcomes[name] = "not run: the 25 minutes are over"
                continue
            _say(f"{name} ...")
            outcomes[name] = _part(options, rig, name, run, min(limit_s * (2 if options.software else 1), left))
            _say(f"{name}: {outcomes[name]}")
            _keep_logs(rig, options.out, name)
    finally:
        sweep_mps(rig)
        shutil.rmtree(work, ignore_errors=True)
        _print_table(options.out, outcomes)
    return 0 if outcomes and all(outcome == "ok" for outcome in outcomes.values()) else 1


def _build(options):
    _say(f"building {options.build.relative_to(TOP) if options.build.is_relative_to(TOP) else options.build}")
    log = options.out / "build.txt"
    commands = (["cmake", "--preset", "gpu", "-B", str(options.build)],
                ["cmake", "--build", str(options.build), "-j", str(os.cpu_count())])
    with open(log, "w", encoding="utf-8") as output:
        for command in commands:
            done = subprocess.run(command, cwd=TOP, stdout=output, stderr=subprocess.STDOUT, timeout=_BUILD_LIMIT_S,
                                  check=False)
            if done.returncode != 0:
                output.flush()
                print(log.read_text(encoding="utf-8")[-3000:], file=sys.stderr)
                raise SystemExit(f"gpu: {shlex.join(command)} ended with {done.returncode}")


def _preflight(rig):
    """Prints what the machine is. Ends the run where no program can use a GPU."""
    rig.work.chmod(0o755)
    for name, command in (("nvidia-smi", ["nvidia-smi", "--query-gpu=name,driver_version,compute_mode,memory.total",
                                          "--format=csv,noheader"]),
                          ("nvcc", ["nvcc", "--version"]), ("MPS", ["nvidia-cuda-mps-control", "--help"]),
                          ("PID namespaces", ["unshare", "--pid", "--fork", "true"])):
        _say(f"{name}: {_last_line(command)}")
    try:
        facts = rig.find_out()
    except Cannot as reason:
        raise SystemExit(f"gpu: no GPU can be used: {reason}") from None
    _say(f"GPU: {json.dumps(facts)}")
    _say(f"PyTorch: {torch_parts.describe(rig)}")


def _last_line(command):
    if not shutil.which(command[0]):
        return "not installed"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return "no answer"
    lines = (done.stdout + done.stderr).strip().splitlines()
    return f"{'yes' if done.returncode == 0 else 'no'}{': ' + lines[-1].strip() if lines else ''}"


def _part(options, rig, name, run, limit_s):
    """Runs a part in a process of its own session, so what it started ends with it. Returns the outcome in words."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(sender, rig, run))
    end = time.monotonic() + limit_s
    child.start()
    sender.close()
    lines, failure = [], ""
    try:
        while True:
            if not receiver.poll(max(end - time.monotonic(), 0)):
                failure = f"no end after {limit_s:.0f} s"
                break
            kind, said = receiver.recv()
            if kind == "line":
                lines.append(said)
                _record(options, rig, name, said)
            else:
                failure = said
                break
    except EOFError:
        failure = failure or "its process ended"
    finally:
        _end_session(child)
        sweep_mps(rig)
    missed = [line for line in lines if not line.ok]
    if failure:
        return f"not run: {failure}" if not lines else f"in part: {failure}"
    return "ok" if not missed else f"missed: {', '.join(f'{m.figure} {m.case}' for m in missed)}"


def _child(sender, rig, run):
    os.setsid()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        for measured in run(rig):
            sender.send(("line", measured))
        sender.send(("end", ""))
    except Cannot as reason:
        sender.send(("end", str(reason)))
    except KeyboardInterrupt:
        pass
    except Exception as fault:  # a fault of the suite, not of the GPU: the other parts go on
        traceback.print_exc()
        sender.send(("end", f"{type(fault).__name__}: {fault}"))


def _end_session(child):
    """Asks the child to clean up, then ends it and all processes that it left in its session."""
    if child.is_alive():
        child.terminate()
        child.join(10)
    for pid in _of_session(child.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.join()


def _of_session(session):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        if int(words[3]) == session:
            yield int(stat.parent.name)


def _record(options, rig, name, measured):
    """Appends a line to the results, or replaces the line of this figure and case."""
    flags = ["--software"] if rig.software else []
    flags += ["--quick"] if rig.quick else []
    command = shlex.join(["benchmarks/gpu/run", *flags, "--only", name])
    scope = "component" if name in _COMPONENTS else "chain"
    measured = replace(measured, condition=measured.condition or f"part {name}, case {measured.case}")
    entry = results.line(measured, scope, results.where(rig.where), command, "gpu")
    path = options.out / _FILE
    old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    entries = newest([*old, json.dumps(entry)])
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    fresh.replace(path)
    _give_back(options.out)
    _say("  " + json.dumps({key: entry[key] for key in ("figure", "case", "value", "unit", "goal", "ok", "control")}))


_COMPONENTS = {name for name, *_ in driver_parts.PARTS}


def _keep_logs(rig, out, name):
    """Appends the ends of all programs' logs to one file, for a look at what went wrong."""
    with open(out / "logs.txt", "a", encoding="utf-8") as kept:
        for log in sorted(rig.work.glob("**/*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            if text.strip():
                kept.write(f"== {name}: {log.relative_to(rig.work)}\n{text[-2000:]}\n")
            log.unlink()


def _give_back(out):
    """Copies the results to $OUT: a machine that is lent gives that folder back, however the run ends."""
    if os.environ.get("OUT"):
        for file in out.glob("*.*"):
            shutil.copy(file, os.environ["OUT"])


def _print_table(out, outcomes):
    path = out / _FILE
    entries = newest(path.read_text(encoding="utf-8").splitlines()) if path.exists() else []
    rows = [("figure", "case", "value", "unit", "goal", "ok", "control")]
    for entry in entries:
        rows.append(tuple(_shown(entry[key]) for key in rows[0]))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
    text += "\n\n" + "\n".join(f"{name}: {outcome}" for name, outcome in outcomes.items()) + "\n"
    (out / "table.txt").write_text(text, encoding="utf-8")
    _give_back(out)
    print(text, flush=True)


def _shown(value):
    if isinstance(value, bool):
        return "ok" if value else "MISSED"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def _say(text):
    print(text, flush=True)
