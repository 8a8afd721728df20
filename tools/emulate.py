"""Runs a command so that the kernel starts programs of aarch64 by an emulator:

    python3 -m tools.emulate COMMAND...

It works on a machine of another architecture, as root, and needs qemu-user-static and Linux 6.7. The emulator is
registered in a user namespace of the command's own, in which all users are as they are outside. The machine stays as it
is. The command takes the place of this process, so that signals reach it.
"""

import ctypes
import os
import sys

_INTERPRETER = "/usr/bin/qemu-aarch64-static"
_MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
_REGISTRATIONS = "/proc/sys/fs/binfmt_misc"
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_ALL_USERS = "0 0 4294967295"
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Refused(Exception):
    """Says what is expected, and what is there instead."""


def _call(what, function, *arguments):
    """Calls a function of the C library. Raises _Refused if it fails."""
    if function(*arguments) != 0:
        raise _Refused(f"{what}: expected it to be allowed, got {os.strerror(ctypes.get_errno())}")


def _map_users(process):
    """Maps the users of the namespace that a process has entered. Only a process outside it may do so."""
    for kind in ("uid_map", "gid_map"):
        with open(f"/proc/{process}/{kind}", "w", encoding="ascii") as file:
            file.write(_ALL_USERS)


def _enter():
    """Enters a user and a mount namespace with all users. A child, which stays outside, maps them."""
    entered, mapped = os.pipe(), os.pipe()
    process = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(entered[1])
        if os.read(entered[0], 1):
            try:
                _map_users(process)
                os.write(mapped[1], b".")
            except OSError as error:
                os.write(mapped[1], str(error).encode())
        os._exit(0)
    os.close(entered[0])
    os.close(mapped[1])
    try:
        _call("user namespace", _LIBC.unshare, _CLONE_NEWUSER | _CLONE_NEWNS)
        os.write(entered[1], b".")
        answer = os.read(mapped[0], 1024).decode()
        if answer != ".":
            raise _Refused(f"users of the namespace: expected that they can be mapped, got {answer or 'no answer'}")
    finally:
        os.close(entered[1])
        os.close(mapped[0])
        os.waitpid(child, 0)


def _register():
    _call("mounts", _LIBC.mount, None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    try:
        _call("binfmt_misc", _LIBC.mount, b"none", _REGISTRATIONS.encode(), b"binfmt_misc", 0, None)
    except _Refused as refused:
        kernel = os.uname().release
        raise _Refused(f"{refused}: Linux has it for each user namespace since 6.7, got {kernel}") from None
    with open(f"{_REGISTRATIONS}/register", "w", encoding="ascii") as file:
        # F opens the emulator now, so that it is there in any root. P lets programs see the name that they were called
        # by.
        file.write(f":aarch64:M::{_MAGIC}:{_MASK}:{_INTERPRETER}:FP")


def main(words):
    try:
        if not words:
            raise _Refused("argument: expected a command, got none")
        if not os.access(_INTERPRETER, os.X_OK):
            raise _Refused(f"{_INTERPRETER}: expected an emulator, got none: tools/install.sh")
        if os.getuid() != 0:
            raise _Refused(f"user: expected root, got {os.getuid()}")
        _enter()
        _register()
        os.execvp(words[0], words)
    except (_Refused, OSError) as refused:
        print(f"emulate: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
