"""Writes its process ID into the named pipe of the command line, and then waits until it is ended."""

import os
import signal
import sys


def main():
    pipe = os.open(sys.argv[1], os.O_WRONLY)
    os.write(pipe, f"{os.getpid()}\n".encode())
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
