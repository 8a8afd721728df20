"""Keeps cores from sleeping.

A virtual core that has nothing to do is halted, and its host wakes it up late: by up to several milliseconds at p99
if the host is busy. The software GPU does not account for that. The kernel's own interface makes an idle core poll.
If that is not enough, each core gets a process that never waits, of the scheduling class that runs only when no
other process wants to. It costs something: the kernel then finds no idle core to which it could move a process.
"""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

# It ends when its parent does, even a parent that has ended before it begins: processes.dying_with_parent() would miss
# that one.
_SPIN = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(1000000):
        pass
"""

_spinning = []
_blocks = []  # the ExitStack of the outermost awake() that runs


def virtual(cpuinfo=None):
    """Tells whether the cores of this machine are virtual."""
    text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace") if cpuinfo is None else cpuinfo
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return "hypervisor" in flags.split()


@contextlib.contextmanager
def awake():
    """Keeps idle cores from sleeping by the kernel's own interface, if that is allowed. Its effect ends when the file
    is closed. Within another such block, this one does nothing."""
    with contextlib.ExitStack() as stack:
        if not _blocks:
            with contextlib.suppress(OSError):
                stack.enter_context(open("/dev/cpu_dma_latency", "wb", buffering=0)).write(bytes(4))
            stack.callback(_blocks.clear)
            _blocks.append(stack)
        yield


def insist():
    """Keeps idle cores from sleeping by processes, too, until the outermost block ends. Call it when threads were late
    within the block. Does nothing if cores are real."""
    if not _blocks or _spinning or not virtual():
        return
    for core in os.sched_getaffinity(0):
        command = [sys.executable, "-I", "-c", _SPIN, str(os.getpid())]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _spinning.append(process)
        _blocks[0].callback(_end, process)
        os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
        os.sched_setaffinity(process.pid, {core})


def _end(process):
    _spinning.remove(process)
    process.kill()
    process.wait()


@contextlib.contextmanager
def paused():
    """Stops these processes meanwhile: a host that gives cores to others takes most from those that never wait."""
    for process in _spinning:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in _spinning:
            process.send_signal(signal.SIGCONT)


def ticks():
    """Returns the clock ticks of these processes: what they use counts as idle."""
    total = 0
    for process in _spinning:
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii", errors="replace")
            total += sum(int(field) for field in stat.rpartition(")")[2].split()[11:13])
    return total
