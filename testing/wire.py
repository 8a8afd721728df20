"""Implements the arbiter's protocol and the turnstile's layout, for clients that no library would make. See
proto/arbiter_protocol.h and proto/turnstile.h."""

import contextlib
import socket
import struct
from mmap import mmap

from testing.processes import Failed

PAGE_BYTES = 4096
PAGE_MAGIC, PAGE_VERSION = 0x54534f58, 1
MAX_CLIENTS = 15
MODE_OBSERVE, MODE_GATE = 1, 2
PHASE_TAKING = 2
OWNER_DIED = 0x40000000  # of a robust futex
# Offsets of the words in a slot.
READY, HOLD, REL, GATE, MODE, SUCCESSOR, ALIVE, PHASE, TURNS = 0, 4, 8, 64, 128, 136, 192, 196, 208
_SLOT_BYTES = 256
_STRETCH_BITS = 10
_VERSION, _HELLO_TYPE, _WELCOME_TYPE = 1, 1, 2
_HEADER = struct.Struct("<4I")
_HELLO = struct.Struct("<4I128s48s6I8x")
_WELCOME = struct.Struct("<4I2I")
_PATIENCE_S = 5.0


class Page:
    """The page of a GPU's turns, and this client's slot in it. It is never closed: it ends with its process.

    Each word is written at once. struct.pack_into would clear the bytes first, and the arbiter would see that.
    """

    def __init__(self, memory, slot):
        self.slot = slot
        self._words = memoryview(memory).cast("I")

    def read(self, slot, word):
        return self._words[self._at(slot, word)]

    def write(self, slot, word, value):
        self._words[self._at(slot, word)] = value & 0xffffffff

    def scribble(self, index, value):
        """Writes any word of the page."""
        self._words[index] = value & 0xffffffff

    @staticmethod
    def _at(slot, word):
        return (_SLOT_BYTES * (1 + slot) + word) // 4


def hello(gang, gpu, size=0, rank=0):
    """Returns the message with which a client asks to join."""
    return _HELLO.pack(_HELLO_TYPE, _HELLO.size, _VERSION, 0, gang.encode(), gpu.encode(), size, rank, 1, 0, 0, 0)


def welcome(slot=0, version=0):
    """Returns the message with which an arbiter accepts a client. `version` is the difference to our version."""
    return _WELCOME.pack(_WELCOME_TYPE, _WELCOME.size, _VERSION + version, 0, slot, 0)


def profile_bytes():
    """Returns a well-formed message of a type that no client may send first."""
    return _HEADER.pack(4, 56, _VERSION, 0) + bytes(40)


def join(client, gang, gpu, size=0, rank=0):
    """Returns the Page that the arbiter at the other end of `client` gives to this client. Raises Failed if it gives
    none."""
    client.settimeout(_PATIENCE_S)
    client.sendall(hello(gang, gpu, size, rank))
    message, descriptors, _, _ = socket.recv_fds(client, 4096, 1)
    if not descriptors:
        raise Failed(f"the arbiter did not welcome {gang}: {message[_HEADER.size:].rstrip(bytes(1))!r}")
    with contextlib.closing(open(descriptors[0], "r+b", buffering=0)) as file:
        return Page(mmap(file.fileno(), PAGE_BYTES), _WELCOME.unpack(message)[4])


def next_turn(number):
    """Returns the number of the turn after that of `number`, at its first stretch."""
    return ((number >> _STRETCH_BITS) + 1) << _STRETCH_BITS & 0xffffffff


def last_stretch(number):
    """Returns the value at which a gate is open for all stretches of the turn of `number`, and for no other turn."""
    return number | (1 << _STRETCH_BITS) - 1


def opening(slot, number, successor, ready):
    """Returns what a client in `slot` writes to its successor's gate when it gives back the turn of `number`. `ready`
    is the successor's word. See turn/ops.h."""
    if successor == slot:
        return next_turn(number)
    return (ready + (1 << 30) & 0xfffff000) | (slot << 8 | number >> _STRETCH_BITS & 0xff)


def at_or_past(gate, number):
    """Returns whether a gate lets a turn pass. Numbers are compared cyclically."""
    return (gate - number) & 0xffffffff < 0x80000000
