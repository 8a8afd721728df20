"""Runs a command in a virtual machine as if it ran here: python3 enter.py ADDRESS PORT COMMAND...

Its input, output, environment, signals and exit code are those of the command. agent.py is the other end.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import threading

from agent import frame, frames

_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_OUTPUTS = {b"o": 1, b"e": 2}
_REACHED_WITHIN_S = 30.0
_NOT_REACHED = 255  # as ssh says it


def main(address, port, *command):
    try:
        connection = socket.create_connection((address, int(port)), _REACHED_WITHIN_S)
    except OSError as failure:
        print(f"{address}:{port}: the virtual machine does not answer: {failure}", file=sys.stderr)
        return _NOT_REACHED
    connection.settimeout(None)
    sending = threading.RLock()  # a signal may come while this thread sends

    def send(content):
        with sending, contextlib.suppress(OSError):
            connection.sendall(content)

    for number in _PASSED_ON:
        signal.signal(number, lambda number, _frame: send(frame(b"s", str(number).encode())))
    send(json.dumps({"argv": command, "env": dict(os.environ)}).encode() + b"\n")
    threading.Thread(target=_pass_on_input, args=(send,), daemon=True).start()
    for letter, content in frames(connection.makefile("rb")):
        if letter == b"x":
            return _end_as(int(content))
        _write(_OUTPUTS[letter], content)
    print(f"{address}: the virtual machine has ended", file=sys.stderr)
    return _NOT_REACHED


def _pass_on_input(send):
    with contextlib.suppress(OSError):
        while content := os.read(0, 1 << 16):
            send(frame(b"i", content))
    send(frame(b"i"))


def _write(descriptor, content):
    with contextlib.suppress(BrokenPipeError):
        while content:
            content = content[os.write(descriptor, content):]


def _end_as(code):
    """Returns the exit code, or ends this process by the signal that has ended the command."""
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
