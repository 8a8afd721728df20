"""Loads a library of CUDA, calls functions of it, and prints which functions of the driver it keeps pointers to:

    pointers.py LIBRARY SYMBOLS FUNCTION...

Each line is "<place in the library's data> <symbol> <the library that it lies in>". SYMBOLS, separated by commas, are
those that may lie elsewhere than in the driver. Each FUNCTION gets one pointer to zeros, and three zeros behind it. Its
result does not matter.
"""

import bisect
import contextlib
import ctypes
import sys
from pathlib import Path

_WATCHED = ("libcuda.so", "libcrossover.so")


class DlInfo(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("address", ctypes.c_void_p)]


def mappings():
    """Yields (begin, end, permissions, file) of what is mapped, in order."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        words = line.split(maxsplit=5)
        begin, end = (int(bound, 16) for bound in words[0].split("-"))
        yield begin, end, words[1], words[5] if len(words) > 5 else ""


def writable_of(library):
    """Yields the library's data: writable mappings of its file, and the mapping without a file behind them (.bss)."""
    ours = False
    for begin, end, permissions, file in mappings():
        ours = Path(file).name == library if file else ours
        if ours and "w" in permissions:
            yield begin, end


def code():
    """Returns (begin, end) of the watched libraries' code."""
    return [(begin, end) for begin, end, permissions, file in mappings()
            if "x" in permissions and Path(file).name.startswith(_WATCHED)]


def addresses(driver, symbols):
    """Returns {address: symbol} of what the driver answers for these symbols."""
    found = {}
    for symbol in symbols:
        with contextlib.suppress(AttributeError):
            found[ctypes.cast(getattr(driver, symbol), ctypes.c_void_p).value] = symbol
    return found


def main():
    path, symbols, *functions = sys.argv[1:]
    known = addresses(ctypes.CDLL("libcuda.so.1"), symbols.split(","))
    library = ctypes.CDLL(path)
    zeros = ctypes.create_string_buffer(4096)
    for name in functions:
        getattr(library, name)(zeros, 0, 0, 0)
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = (ctypes.c_void_p, ctypes.POINTER(DlInfo))
    parts = sorted(code())
    begins = [begin for begin, _ in parts]
    places = list(writable_of(Path(path).name))
    for begin, end in places:
        for index, word in enumerate(memoryview(ctypes.string_at(begin, end - begin)).cast("Q")):
            at = bisect.bisect_right(begins, word) - 1
            if at >= 0 and word < parts[at][1]:
                info = DlInfo()
                dladdr(word, ctypes.byref(info))
                symbol = known.get(word) or (info.name or b"?").decode()
                owner = Path(info.file.decode()).name.split(".so", maxsplit=1)[0]
                print(hex(begin + 8 * index - places[0][0]), symbol, owner)


if __name__ == "__main__":
    main()
