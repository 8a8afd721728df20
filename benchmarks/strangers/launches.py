"""Starts COMMAND as a launcher does that hands on almost nothing of its environment:
`launches.py spawn|execve|thread COMMAND...`. Only the variables whose names begin with one of _KEPT remain: those of
the software GPU, which a real GPU does not need.

spawn   by subprocess, with an environment made anew
execve  in its own place, from a forked child, as servers do that log a user in
thread  from a thread of a worker process that multiprocessing has spawned
"""

import multiprocessing
import os
import subprocess
import sys
import threading

_KEPT = ("SIMGPU_", "LD_LIBRARY_PATH")


def clean():
    return {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}


def spawn(command):
    return subprocess.run(command, env=clean(), check=False).returncode


def execve(command):
    child = os.fork()
    if child == 0:
        os.setsid()
        os.execve(command[0], command, {"HOME": "/", "SHELL": "/bin/sh", **clean()})
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def work(command, codes):
    kept = clean()
    os.environ.clear()
    os.environ.update(kept)
    runner = threading.Thread(target=lambda: codes.put(subprocess.run(command, check=False).returncode))
    runner.start()
    runner.join()


def thread(command):
    context = multiprocessing.get_context("spawn")
    codes = context.Queue()
    worker = context.Process(target=work, args=(command, codes))
    worker.start()
    code = codes.get(timeout=60)
    worker.join()
    return code


if __name__ == "__main__":
    sys.exit({"spawn": spawn, "execve": execve, "thread": thread}[sys.argv[1]](sys.argv[2:]))
