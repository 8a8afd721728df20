"""Reads the dynamic symbols of shared libraries (ELF, 64 bits, little endian)."""

import struct
from dataclasses import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNSYM, _VERDEF, _VERNEED, _VERSYM = 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
_DYNAMIC, _NEEDED = 6, 1
_HIDDEN = 0x8000
_WEAK = 2


class NotALibrary(Exception):
    """Says that a file is no shared library that this module can read."""


@dataclass(frozen=True, order=True)
class Symbol:
    """A dynamic symbol. `library` is the file that its version belongs to, and `version` the version's name; both are
    empty for a symbol without a version."""
    name: str
    library: str = ""
    version: str = ""
    defined: bool = False
    weak: bool = False


def _text(data, start):
    return data[start:data.index(b"\0", start)].decode()


def _sections(data):
    if data[:6] != b"\x7fELF\x02\x01":
        raise NotALibrary("expected a shared library (ELF of 64 bits, little endian)")
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if size != _SECTION.size or offset + size * count > len(data):
        raise NotALibrary(f"expected a table of sections at byte {offset}, got the end of the file")
    return [_SECTION.unpack_from(data, offset + size * i) for i in range(count)]


def _needed_versions(data, section, strings):
    """Yields (index, library, version) of a table of needed versions."""
    at = section[4]
    for _ in range(section[7]):
        _, count, file, first, following = struct.unpack_from("<HHIII", data, at)
        entry = at + first
        for _ in range(count):
            _, _, index, name, after = struct.unpack_from("<IHHII", data, entry)
            yield index & ~_HIDDEN, _text(data, strings + file), _text(data, strings + name)
            entry += after
        at += following


def _own_versions(data, section, strings):
    """Yields (index, library, version) of a table of defined versions. The library is empty: it is the file itself."""
    at = section[4]
    for _ in range(section[7]):
        _, _, index, _, _, first, following = struct.unpack_from("<HHHHIII", data, at)
        yield index, "", _text(data, strings + struct.unpack_from("<I", data, at + first)[0])
        at += following


def symbols(path):
    """Returns the dynamic symbols of the library at `path`. Raises NotALibrary, whose text does not name the file."""
    data = path.read_bytes()
    try:
        return _symbols(data)
    except (struct.error, ValueError, IndexError) as error:
        raise NotALibrary(f"expected a whole table of dynamic symbols, got {error}") from error


def _symbols(data):
    sections = _sections(data)
    tables = {section[1]: section for section in sections}
    versions = {}
    for kind, read in ((_VERNEED, _needed_versions), (_VERDEF, _own_versions)):
        if kind in tables:
            strings = sections[tables[kind][6]][4]
            versions |= {index: (library, name) for index, library, name in read(data, tables[kind], strings)}
    if _DYNSYM not in tables:
        raise NotALibrary("expected a table of dynamic symbols, got none")
    table = tables[_DYNSYM]
    strings = sections[table[6]][4]
    marks = tables[_VERSYM][4] if _VERSYM in tables else None
    found = []
    for i in range(1, table[5] // _SYMBOL.size):
        name, info, _, place, _, _ = _SYMBOL.unpack_from(data, table[4] + i * _SYMBOL.size)
        mark = struct.unpack_from("<H", data, marks + 2 * i)[0] & ~_HIDDEN if marks else 0
        library, version = versions.get(mark, ("", "")) if mark > 1 else ("", "")
        found.append(Symbol(_text(data, strings + name), library, version, place != 0, info >> 4 == _WEAK))
    return found


def needed(path):
    """Returns the names of the libraries that the library at `path` needs."""
    data = path.read_bytes()
    sections = _sections(data)
    names = []
    for section in sections:
        if section[1] == _DYNAMIC:
            strings = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == _NEEDED:
                    names.append(_text(data, strings + value))
    return names
