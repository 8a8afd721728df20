"""Starts the processes of a job of JAX, and ends with 0 when all of them have ended well.

Usage, in a mount namespace of its own: launch_jax.py COUNT PORT PROGRAM [ARGUMENT ...]. Each process learns its number,
the number of all, and the address of the first, as from the training operator's JAXJob. RANK is for what records calls.
The processes see a /dev that has /dev/nvidiactl beside the machine's own files: JAX looks for it, and does not open it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_FILE = "nvidiactl"


def add_device_file():
    """Mounts a /dev that has the machine's own files, and one of NVIDIA's."""
    folder = Path(tempfile.mkdtemp())
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
    for entry in Path("/dev").iterdir():
        place = folder / entry.name
        if entry.is_symlink():
            shutil.copy(entry, place, follow_symlinks=False)
            continue
        if entry.is_dir():
            place.mkdir()
        else:
            place.touch()
        mount("--rbind", entry, place)
    (folder / _FILE).touch()
    mount("--rbind", folder, "/dev")


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def start(number, count, port, command):
    """Starts one process."""
    variables = {"RANK": str(number)}
    if count > 1:
        variables |= {"COORDINATOR_ADDRESS": "127.0.0.1", "COORDINATOR_PORT": str(port), "NUM_PROCESSES": str(count),
                      "PROCESS_ID": str(number)}
    return subprocess.Popen(command, env=os.environ | variables)


def main(words):
    count, port, command = int(words[0]), int(words[1]), words[2:]
    if not Path("/dev", _FILE).exists():
        add_device_file()
    statuses = [process.wait() for process in [start(number, count, port, command) for number in range(count)]]
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
