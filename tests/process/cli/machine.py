"""Runs a software machine with the whole daemon on it, and the daemon's command line."""

import json
import re
import signal
import subprocess
import time

from tests.process.sidecar.test_sidecar import BIN, Machine, _end


class Node(Machine):
    """A Node is one node with two GPUs and crossover-deviceplugin. `crossover` can be asked about it."""

    def __init__(self, test, start=True, **daemon_options):
        super().__init__(test, arbiter=False)
        self.test = test
        self.api = self.directory / "api.sock"
        self.config = self.directory / "crossover.yaml"
        self.running = []
        self.write_config(**daemon_options)
        if start:
            self.start_daemon()

    def write_config(self, **options):
        lines = ["socket:", f"  path: {self.socket}", f"trace_file: {self.trace}"]
        # The machine may stand still for a while, and the jobs are not to blame. With the default limit of offences
        # turns would then stop for minutes.
        settings = {"profiles": "off", "watchdog": "{offences: 1000}", **options}
        lines += [f"{key}: {value}" for key, value in settings.items()]
        self.config.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def start_daemon(self, until="api on ", environment=None):
        """Starts the daemon and returns the first log line with `until`. `environment` replaces this process's own."""
        command = [BIN / "crossover-deviceplugin", "--standalone", "--config", self.config]
        self.daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       env=environment)
        self.test.addCleanup(_end, self.daemon)
        return self.await_word(until)

    def await_word(self, word):
        """Reads the daemon's log until a line has `word`, and returns that line. Raises AssertionError if the log ends
        before."""
        seen = []
        for line in self.daemon.stderr:
            seen.append(line)
            if word in line:
                return line
        raise AssertionError(f"no '{word}' in {seen}")

    def stop_daemon(self, number=signal.SIGTERM):
        self.daemon.send_signal(number)
        self.daemon.communicate(timeout=60)
        return self.daemon.returncode

    def start_job(self, name, iterations=100_000, paused_by=None, **options):
        """Starts both ranks of a job. They are killed with the test if they still run. While the file `paused_by` is
        there, they start no iteration."""
        words = [f"--iterations={iterations}"] + ([f"--pause-file={paused_by}"] if paused_by else [])
        ranks = self.start(name, options=words, **options)
        for rank in ranks:
            self.test.addCleanup(end_quietly, rank)
        return ranks

    def command(self, *arguments):
        return [str(BIN / "crossover"), *arguments, "--socket", str(self.api)]

    def ask(self, *arguments, code=0):
        """Runs `crossover ...`, which must end with `code`. Returns its standard output, or its standard error if
        `code` is not 0."""
        done = finished(self.command(*arguments))
        if done.returncode != code:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def top(self):
        return json.loads(self.ask("top", "-o", "json"))

    def await_table(self, pattern):
        """Runs `crossover top` again and again until a line of its text matches. The test's own timeout bounds it."""
        while not re.search(pattern, table := self.ask("top")):
            time.sleep(0.05)
        return table

    def await_top(self, holds):
        """Runs `crossover top` again and again until `holds(top)`, and returns that answer. The test's own timeout
        bounds it."""
        while True:
            top = self.top()
            if holds(top):
                return top
            time.sleep(0.05)


def finished(command, environment=None):
    """Runs a command to its end and returns the finished process."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def clients(top):
    return [client for job in top["jobs"] for client in job["clients"]]


def end_ranks(ranks):
    """Kills a job and waits until its processes are gone."""
    for rank in ranks:
        rank.kill()
    for rank in ranks:
        end_quietly(rank)


def end_quietly(process):
    if process.poll() is None:
        process.kill()
    process.wait()
    if process.stderr and not process.stderr.closed:
        process.stderr.close()
