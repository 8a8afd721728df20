"""Knows which names of NVIDIA's user-space libraries a program wants: from its libraries, or from a committed list."""

import re
from collections import namedtuple

from simgpu.stand_ins import elf

# A name that a program leaves undefined: the library that must define it, with the version node that it must carry
# there (empty: none).
Name = namedtuple("Name", "library version symbol")

# The libraries whose names carry no version: what they are called with.
_UNVERSIONED = (
    (r"cusparseLt", "libcusparseLt.so.0"),
    (r"cuFile", "libcufile.so.0"),
    (r"nccl[A-Z]", "libnccl.so.2"),
    (r"nvshmemx?_|nvshmemid_", "libnvshmem_host.so.3"),
    (r"cu[A-Z]", "libcuda.so.1"),
)
_VERSIONED = re.compile(r"lib(cudart|cublas|cublasLt|cudnn|cufft|cupti|cusolver|cusparse|nvrtc|nvshmem_host)\.so\.")


class BadList(Exception):
    """Says which line of a list is no name, and what is expected."""


def _owner(symbol):
    return next((library for pattern, library in _UNVERSIONED if re.match(pattern, symbol.name)), None)


def of_libraries(paths):
    """Returns the set of names of NVIDIA's libraries that the shared libraries at `paths` leave undefined and do not
    define for each other."""
    wanted, defined = set(), set()
    for path in paths:
        for symbol in elf.symbols(path):
            if symbol.defined:
                defined.add(symbol.name)
            elif symbol.library:
                if _VERSIONED.match(symbol.library):
                    wanted.add(Name(symbol.library, symbol.version, symbol.name))
            elif not symbol.weak and (library := _owner(symbol)):
                wanted.add(Name(library, "", symbol.name))
    return {name for name in wanted if name.version or name.symbol not in defined}


def read(path):
    """Reads a list: lines of library, version node or "-", and symbol. Raises BadList."""
    names = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 3 or not re.fullmatch(r"[A-Za-z_]\w*", words[2]):
            raise BadList(f"{path}:{number}: expected library, version node or '-', and symbol, got '{line}'")
        names.add(Name(words[0], "" if words[1] == "-" else words[1], words[2]))
    return names


def text(names):
    """Returns a list of names as read() takes it."""
    return "".join(f"{name.library} {name.version or '-'} {name.symbol}\n" for name in sorted(names))


def lacking(names, folders):
    """Returns, sorted, the names that the libraries in `folders` do not define. Libraries of the driver may lie in
    another folder than the others."""
    defined = {}
    for folder in folders:
        for path in sorted(folder.glob("lib*.so.*")):
            defined.setdefault(path.name, set()).update(
                (symbol.version, symbol.name) for symbol in elf.symbols(path) if symbol.defined)
    # A reference without a version is served by a symbol of any version.
    anyhow = {library: {symbol for _, symbol in symbols} for library, symbols in defined.items()}
    return sorted(name for name in names
                  if ((name.version, name.symbol) not in defined.get(name.library, ()) if name.version else name.symbol
                      not in anyhow.get(name.library, ())))
