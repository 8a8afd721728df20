#!/usr/bin/env python3
"""Starts the ranks of one training job, as torchrun does, and waits for all of them.

    launch.py --nodes 2 --gpus 2 --lib-dir build/simgpu/lib --log-dir /tmp/a -- --iterations=100

Rank r runs on node r // gpus with LOCAL_RANK r % gpus and SIMGPU_NODE set to the node. Each rank writes
LOG_DIR/rank<r>.jsonl; rank 0 prints to the terminal, the others to LOG_DIR/rank<r>.out. In --env and
--wrap, {rank}, {node} and {local} stand for the rank's numbers. SIGINT and SIGTERM end all ranks.

Exit code: 0 if every rank ended well and all ended with the same parameters, else 1 (2 for wrong flags).
"""

import argparse
import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time

GRACE_S = 8.0  # seconds from the first failure, or a signal, to SIGKILL


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=1, help="ranks on each node")
    parser.add_argument("--trainer", help="the program (trainer beside the build's other programs)")
    parser.add_argument("--lib-dir", help="put first on LD_LIBRARY_PATH")
    parser.add_argument("--log-dir", help="for logs and output; created")
    parser.add_argument("--master-addr", default="127.0.0.1")
    parser.add_argument("--master-port", type=int, default=0, help="0: a free one of this machine")
    parser.add_argument("--env", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--wrap", default="", help="command that each rank is an argument of")
    parser.add_argument("--quiet", action="store_true", help="do not show the output of rank 0")
    parser.add_argument("flags", nargs="*", help="flags of the trainer, after --")
    arguments = parser.parse_args(argv)
    for name in ("nodes", "gpus"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name}: expected at least 1, got {getattr(arguments, name)}")
    for entry in arguments.env:
        if "=" not in entry:
            parser.error(f"--env: expected KEY=VALUE, got {entry}")
    return arguments


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def default_trainer():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for preset in ("release", "dev"):
        path = os.path.join(root, "build", preset, "bin", "trainer")
        if os.path.exists(path):
            return path
    sys.exit("launch.py: --trainer: expected the path of the built trainer, got none")


class Job:
    """A Job runs the ranks of one job as child processes. Call start(), then wait(). A signal handler calls stop()."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.world = arguments.nodes * arguments.gpus
        self.port = arguments.master_port or free_port()
        self.trainer = arguments.trainer or default_trainer()
        self.processes = []
        self.deadline = None
        self.stopping = False

    def expand(self, text, rank):
        numbers = {"rank": rank, "node": rank // self.arguments.gpus, "local": rank % self.arguments.gpus}
        for name, value in numbers.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def environment(self, rank):
        environment = dict(
            os.environ,
            RANK=str(rank),
            WORLD_SIZE=str(self.world),
            LOCAL_RANK=str(rank % self.arguments.gpus),
            MASTER_ADDR=self.arguments.master_addr,
            MASTER_PORT=str(self.port),
            SIMGPU_NODE=str(rank // self.arguments.gpus),
        )
        if self.arguments.lib_dir:
            rest = os.environ.get("LD_LIBRARY_PATH")
            environment["LD_LIBRARY_PATH"] = os.path.abspath(self.arguments.lib_dir) + (":" + rest if rest else "")
        for entry in self.arguments.env:
            key, value = entry.split("=", 1)
            environment[key] = self.expand(value, rank)
        return environment

    def output_of(self, rank):
        if rank == 0 and not self.arguments.quiet:
            return contextlib.nullcontext(sys.stdout)
        if self.arguments.log_dir:
            return open(os.path.join(self.arguments.log_dir, f"rank{rank}.out"), "wb")
        return open(os.devnull, "wb")

    def log_path(self, rank):
        return os.path.join(self.arguments.log_dir, f"rank{rank}.jsonl")

    def start(self):
        if self.arguments.log_dir:
            os.makedirs(self.arguments.log_dir, exist_ok=True)
        for rank in range(self.world):
            command = shlex.split(self.expand(self.arguments.wrap, rank)) + [self.trainer] + self.arguments.flags
            if self.arguments.log_dir:
                command.append("--log=" + self.log_path(rank))
            with self.output_of(rank) as output:
                self.processes.append(
                    subprocess.Popen(
                        command,
                        env=self.environment(rank),
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output if self.arguments.log_dir and output is not sys.stdout else None,
                    )
                )

    def stop(self, *_):
        self.stopping = True
        self.deadline = self.deadline or time.monotonic() + GRACE_S
        for process in self.processes:
            if process.poll() is None:
                process.terminate()

    def wait(self):
        """Returns the exit codes. One failed rank ends the others."""
        while any(process.poll() is None for process in self.processes):
            if self.deadline is None and any(process.poll() not in (None, 0) for process in self.processes):
                self.stop()
            if self.deadline is not None and time.monotonic() > self.deadline:
                for process in self.processes:
                    if process.poll() is None:
                        process.kill()
            time.sleep(0.02)
        return [process.returncode for process in self.processes]

    def summaries(self):
        """Returns the summary of each rank, or None if it has none."""
        found = []
        for rank in range(self.world):
            summary = None
            try:
                with open(self.log_path(rank), encoding="ascii") as log:
                    for line in log:
                        summary = json.loads(line).get("summary", summary)
            except OSError:
                pass
            found.append(summary)
        return found


def main(argv):
    arguments = parse_arguments(argv)
    job = Job(arguments)
    signal.signal(signal.SIGINT, job.stop)
    signal.signal(signal.SIGTERM, job.stop)
    try:
        job.start()
    except OSError as error:
        job.stop()
        print(f"launch.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    codes = job.wait()
    for rank, code in enumerate(codes):
        if code != 0:
            hidden = arguments.log_dir and (rank > 0 or arguments.quiet)
            where = f", see {arguments.log_dir}/rank{rank}.out" if hidden else ""
            print(f"launch.py: rank {rank} ended with {code}{where}", file=sys.stderr)
    if any(codes):
        return 1
    if arguments.log_dir and not job.stopping:
        digests = {summary and summary["parameters_digest"] for summary in job.summaries()}
        if len(digests) != 1 or None in digests:
            print("launch.py: the ranks ended with different parameters", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
