"""Reads the dynamic symbols of shared libraries (ELF, 64 bits, little endian)."""

import struct
from dataclasses import dataclass

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNSYM, _VERDEF, _VERNEED, _VERSYM = 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
_HIDDEN = 0x8000
_WEAK = 2
_MOST_VERSIONS = 4096


class NotALibrary(Exception):
    """Says which file is no shared library that this module can read, and what is expected."""


@dataclass(frozen=True, order=True)
class Symbol:
    """Describes a dynamic symbol. `library` is the file that its version belongs to, and `version` the version's name;
    both are empty for a symbol without a version."""
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


def _chain(data, at, layout):
    """Yields the places of the entries of a list. `layout` reads from an entry how far behind it the next one lies: 0
    at the end."""
    seen = 0
    step = 1
    while step:
        if seen > _MOST_VERSIONS:
            raise NotALibrary(f"expected at most {_MOST_VERSIONS} versions, got more")
        step, = struct.unpack_from(layout, data, at)
        yield at
        at += step
        seen += 1


def _needed_versions(data, section, strings):
    """Yields (index, library, version) of a table of needed versions."""
    for at in _chain(data, section[4], "<12xI"):
        _, _, file, first = struct.unpack_from("<HHII", data, at)
        for entry in _chain(data, at + first, "<12xI"):
            _, _, index, name = struct.unpack_from("<IHHI", data, entry)
            yield index & ~_HIDDEN, _text(data, strings + file), _text(data, strings + name)


def _own_versions(data, section, strings):
    """Yields (index, library, version) of a table of defined versions. The library is empty: it is the file itself."""
    for at in _chain(data, section[4], "<16xI"):
        _, _, index, _, _, first = struct.unpack_from("<HHHHII", data, at)
        yield index, "", _text(data, strings + struct.unpack_from("<I", data, at + first)[0])


def symbols(path):
    """Returns the dynamic symbols of the library at `path`. Raises NotALibrary, with the file's name."""
    data = path.read_bytes()
    try:
        return _symbols(data)
    except NotALibrary as error:
        raise NotALibrary(f"{path}: {error}") from error
    except (struct.error, ValueError, IndexError) as error:
        raise NotALibrary(f"{path}: expected a whole table of dynamic symbols, got {error}") from error


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
