"""Runs commands in a virtual machine for programs outside: python3 agent.py PORT

It needs only Python's own library: it runs in the virtual machine, as root. enter.py is the other end. A connection is
one command. Its first line is JSON with `argv` and `env`. Frames follow, each a letter, a length and so many bytes:

    to the agent    i  bytes for the standard input; none is its end       s  the number of a signal
    to the client   o  standard output      e  standard error      x  the exit code, or the signal as a negative number

A command is killed, with all that it started, when its connection ends first.
"""

import contextlib
import json
import os
import signal
import socketserver
import struct
import subprocess
import sys
import threading

HEAD = struct.Struct(">cI")
_MOST = 1 << 16
_SAYS_ITS_LAST_WITHIN_S = 2.0


def frames(stream):
    """Yields (letter, bytes) until the stream ends."""
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        letter, length = HEAD.unpack(head)
        yield letter, stream.read(length)


def frame(letter, content=b""):
    return HEAD.pack(letter, len(content)) + content


class _Command(socketserver.StreamRequestHandler):
    """Runs the command of one connection."""

    def handle(self):
        self._sending = threading.Lock()
        wanted = json.loads(self.rfile.readline())
        try:
            process = subprocess.Popen(wanted["argv"], env=wanted["env"], cwd="/", stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        except OSError as failure:
            self._send(b"e", f"{failure}\n".encode())
            self._send(b"x", b"127")
            return
        readers = [threading.Thread(target=self._pass_on, args=(letter, pipe))
                   for letter, pipe in ((b"o", process.stdout), (b"e", process.stderr))]
        threading.Thread(target=self._obey, args=(process,), daemon=True).start()
        for reader in readers:
            reader.start()
        code = process.wait()
        for reader in readers:
            reader.join(_SAYS_ITS_LAST_WITHIN_S)  # what it started may live on, with its output
        self._send(b"x", str(code).encode())

    def _pass_on(self, letter, pipe):
        while content := os.read(pipe.fileno(), _MOST):
            self._send(letter, content)

    def _obey(self, process):
        """Does what the client says until the connection ends."""
        with contextlib.suppress(OSError, ValueError):
            for letter, content in frames(self.rfile):
                if letter == b"s":
                    with contextlib.suppress(ProcessLookupError):
                        process.send_signal(int(content))
                    continue
                with contextlib.suppress(BrokenPipeError):
                    if content:
                        process.stdin.write(content)
                        process.stdin.flush()
                    else:
                        process.stdin.close()
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _send(self, letter, content):
        with self._sending, contextlib.suppress(OSError):  # the client may be gone
            self.wfile.write(frame(letter, content))


class _Agent(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    with _Agent(("", int(sys.argv[1])), _Command) as agent:
        agent.serve_forever()
