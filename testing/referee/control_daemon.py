"""Asks a control daemon of MPS, NVIDIA's or ours, what it accepts, refuses, prints and leaves behind."""

import contextlib
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

from testing.referee.wanted import Compared, Lacking

PROGRAM = "nvidia-cuda-mps-control"
ABSENT = "absent"
DRIVERS = (535, 550, 555)  # those that ours can act as
_TIMEOUT_S = 20
_UNPRIVILEGED = 65534
_HELP = "a text of help"
_UNKNOWN = "Unknown command"
# Each of these is tried without a daemon. Some of them start one.
_OPTIONS = ("-h", "--help", "-d", "-f", "-d -multiuser-server", "-multiuser-server -d", "-f -multiuser-server",
            "-multiuser-server", "-d --multiuser-server", "-d -M", "-f -M", "-M", "-d -m", "-d --multiuser", "-d -p 3",
            "-p3 -d", "-d extra", "extra", "-v", "")
# These lines are sent to a daemon without a server, one after the other.
_COMMANDS = (
    "get_server_list", "get_server_list extra", "  get_server_list", "GET_SERVER_LIST", "get_server_listx",
    "get_server_status", "get_server_status 1", "get_server_status 1 2", "get_server_status x",
    "get_client_list", "get_client_list 1", "get_client_list x", "get_device_client_list", "get_device_client_list 1",
    "get_default_active_thread_percentage", "set_default_active_thread_percentage 50",
    "get_default_active_thread_percentage", "set_default_active_thread_percentage 12.345",
    "set_default_active_thread_percentage 0", "set_default_active_thread_percentage 101",
    "set_default_active_thread_percentage -3", "set_default_active_thread_percentage x",
    "set_default_active_thread_percentage", "set_default_active_thread_percentage 50x",
    "set_default_active_thread_percentage 30 40", "set_default_active_thread_percentage 100",
    "get_active_thread_percentage", "get_active_thread_percentage 1", "set_active_thread_percentage",
    "set_active_thread_percentage 1 50", "set_active_thread_percentage 1 0", "set_active_thread_percentage x 50",
    "start_server", "start_server -uid", "start_server -uid x", "start_server 0", "shutdown_server",
    "shutdown_server 1", "shutdown_server 1 -f", "terminate_client", "terminate_client 1", "terminate_client 1 2",
    "terminate_client x y", "ps", "ps -p 1", "get_default_client_priority", "set_default_client_priority 1",
    "set_default_client_priority 5", "set_default_client_priority 0", "get_default_device_pinned_mem_limit 0",
    "set_default_device_pinned_mem_limit 0 1G", "server list", "help", "?", "quitx", "nonsense", "nonsense 1", "", " ")
_COMMANDS_OF_OTHERS = ("get_server_list", "get_client_list 1", "get_default_active_thread_percentage",
                       "set_default_active_thread_percentage 40", "get_default_active_thread_percentage",
                       "start_server -uid 0", "terminate_client 1 2", "nonsense", "quit")
_PERCENTAGES = ("50", "33.3", "0", "150", "x", "")


class ControlDaemon:
    """A ControlDaemon is a program of a name, in a directory of its own with room for its pipe and its logs."""

    def __init__(self, program, directory, **environment):
        self.directory = Path(directory)
        self.pipe = self.directory / "pipe"
        # A copy that other users can run, wherever the program lies.
        self.program = self.directory / PROGRAM
        shutil.copy(program, self.program)
        for path in (self.directory, self.program):
            path.chmod(0o755)
        self.logs = self.directory / "log"
        self.logs.mkdir()
        self._environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "CUDA_MPS_PIPE_DIRECTORY": str(self.pipe),
                             "CUDA_MPS_LOG_DIRECTORY": str(self.logs), **environment}

    def run(self, options=(), lines="", user=None, **environment):
        """Runs the program to its end. Returns its status, output and errors, made comparable."""
        done = subprocess.run([str(self.program), *options], input=lines, capture_output=True, text=True, user=user,
                              env={**self._environment, **environment}, timeout=_TIMEOUT_S, check=False)
        return _told(done.returncode, done.stdout, done.stderr, options)

    @contextlib.contextmanager
    def running(self, *options, output=subprocess.DEVNULL, **environment):
        """Runs a daemon in the foreground until the block ends, and lets it write to `output`. Yields its process once
        it has answered a command, so that all its files are there, or once it has ended."""
        process = subprocess.Popen([str(self.program), "-f", *options], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=output, env={**self._environment, **environment})
        try:
            self.await_true(lambda: self.serves() or process.poll() is not None)
            if process.poll() is None:
                self.run(lines="get_server_list\n")
            yield process
        finally:
            process.kill()
            process.wait()

    def serves(self):
        """Tells whether a daemon listens."""
        return self.connect() == "accepted"

    def connect(self):
        """Returns what a program finds that connects to the daemon's socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end:
            try:
                end.connect(str(self.pipe / "control"))
            except OSError as error:
                return os.strerror(error.errno)
        return "accepted"

    def files(self):
        """Returns {name: kind and mode} of what is in the directory of the pipe."""
        found = {}
        for path in self.pipe.iterdir() if self.pipe.is_dir() else ():
            mode = path.lstat().st_mode
            found[path.name] = f"{stat.filemode(mode)[0]} {stat.S_IMODE(mode):o}"
        return found

    def await_end(self):
        """Waits until no daemon listens any more."""
        self.await_true(lambda: not self.serves())

    @staticmethod
    def await_true(happened):
        """Waits until it has happened. Raises TimeoutError if it does not."""
        end = time.monotonic() + _TIMEOUT_S
        while not happened():
            if time.monotonic() > end:
                raise TimeoutError(f"a control daemon did not change its state within {_TIMEOUT_S} s")
            time.sleep(0.002)


def _told(status, output, errors, options):
    """Returns what a run told. The wording of help is each program's own, and so is the second sentence about
    privileges."""
    if options and output.count("\n") > 1:
        output = _HELP
    output = re.sub(r"(Insufficient privileges for UID \d+)\..*", r"\1", output)
    errors = re.sub(r"\s+\Z", "", errors)
    return f"status {status}, output {output.strip()!r}" + (f", errors {errors!r}" if errors else "")


def compare(theirs, ours, major, as_root):
    """Compares NVIDIA's program with ours, which acts as that of the driver `major`, or of the one before it that it
    knows. Yields what was compared. Answers to another user are among them if `as_root`."""
    acts_as = max((known for known in DRIVERS if known <= major), default=DRIVERS[0])
    with _answers(theirs, as_root) as their, _answers(ours, as_root, SIMGPU_MPS_DRIVER=str(acts_as)) as our:
        for subject in sorted({*their, *our}):
            one, other = our.get(subject, ABSENT), their.get(subject, ABSENT)
            yield Compared(subject, one, other, _lacking(one, other))


def _lacking(ours, theirs):
    for lacking, own, other in ((Lacking.OURS, ours, theirs), (Lacking.DRIVER, theirs, ours)):
        if (own == ABSENT or _UNKNOWN in own) and other != ABSENT and _UNKNOWN not in other:
            return lacking
    return Lacking.NEITHER


@contextlib.contextmanager
def _answers(program, as_root, **environment):
    """Yields {subject: what the program does}."""
    with tempfile.TemporaryDirectory(prefix="referee-") as directory:
        made = iter(range(1000))

        def fresh(**more):
            place = Path(directory) / str(next(made))
            place.mkdir()
            return ControlDaemon(program, place, **environment, **more)

        Path(directory).chmod(0o755)
        yield {**_options(fresh), **_commands(fresh()), **_life(fresh()), **_signals(fresh), **_places(fresh),
               **_percentages(fresh), **(_other_user(fresh()) if as_root else {})}


def _options(fresh):
    """Tries options where no daemon runs."""
    told = {}
    for options in _OPTIONS:
        daemon = fresh()
        if "-f" in options.split():
            with daemon.running(*options.replace("-f", "").split()) as process:
                told[f"option {options}"] = "serves" if daemon.serves() else f"status {process.poll()}"
            continue
        told[f"option {options}"] = daemon.run(options.split())
        if daemon.serves():
            told[f"option {options}"] += ", serves"
            daemon.run(lines="quit\n")
            daemon.await_end()
    return told


def _commands(daemon):
    """Sends commands to a daemon that has no server."""
    told = {}
    with daemon.running():
        for number, command in enumerate(_COMMANDS):
            again = _COMMANDS[:number].count(command)
            told[f"command {command}" + (f" ({again + 1})" if again else "")] = daemon.run(lines=command + "\n")
        told["no command"] = daemon.run()
        told["commands of a text"] = daemon.run(
            lines="get_default_active_thread_percentage\nnonsense\nget_server_list\n")
        told["command without a newline"] = daemon.run(lines="get_default_active_thread_percentage")
        told["command beside protocol 3"] = daemon.run(lines="server list\n", CUDA_MPS_PROTOCOL_VERSION="3")
        for options in ("-d", "-f", "extra", "-multiuser-server"):
            told[f"option {options} beside a daemon"] = daemon.run(options.split(), "get_server_list\n")
    return told


def _life(daemon):
    """Looks at the files of a daemon, ends it by `quit`, and looks at what is left."""
    with daemon.running() as process:
        told = {f"file {name}": kind for name, kind in daemon.files().items()}
        recorded = daemon.pipe / f"{PROGRAM}.pid"
        if recorded.exists():
            told["recorded process"] = str(recorded.read_text(encoding="utf-8") == str(process.pid))
        told["name of the process"] = Path(f"/proc/{process.pid}/comm").read_text(encoding="utf-8").strip()
        told["quit"] = daemon.run(lines="quit\n")
        told["status after quit"] = str(process.wait(_TIMEOUT_S))
    told |= {f"file {name} after quit": kind for name, kind in daemon.files().items()}
    told["connection after quit"] = daemon.connect()
    told["command after quit"] = daemon.run(lines="get_server_list\n")
    with daemon.running():
        told["start after quit"] = daemon.run(lines="get_server_list\n")
        told["quit with words"] = daemon.run(lines="quit now\n")
    return told


def _signals(fresh):
    """Ends daemons by signals, and looks at what is left."""
    told = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        daemon = fresh()
        with daemon.running() as process:
            process.send_signal(number)
            told[f"status after {number.name}"] = str(process.wait(_TIMEOUT_S))
        told |= {f"file {name} after {number.name}": kind for name, kind in daemon.files().items()}
        told[f"connection after {number.name}"] = daemon.connect()
    return told


def _places(fresh):
    """Starts daemons whose directory does not exist."""
    made, refused = fresh(), fresh()
    with made.running():
        told = {"mode of the directory that it makes": f"{stat.S_IMODE(made.pipe.stat().st_mode):o}"}
    nowhere = str(refused.directory / "none" / "pipe")
    answer = refused.run(["-d"], CUDA_MPS_PIPE_DIRECTORY=nowhere)
    told["directory that it cannot make"] = answer.replace(nowhere, "DIRECTORY")
    return told


def _percentages(fresh):
    told = {}
    for percentage in _PERCENTAGES:
        daemon = fresh(CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=percentage)
        with daemon.running():
            told[f"percentage '{percentage}' of the environment"] = daemon.run(
                lines="get_default_active_thread_percentage\n")
    return told


def _other_user(daemon):
    """Sends commands as another user, who may look and change nothing."""
    told = {}
    with daemon.running():
        for number, command in enumerate(_COMMANDS_OF_OTHERS):
            again = _COMMANDS_OF_OTHERS[:number].count(command)
            told[f"another user's {command}" + (f" ({again + 1})" if again else "")] = daemon.run(
                lines=command + "\n", user=_UNPRIVILEGED)
    return told
