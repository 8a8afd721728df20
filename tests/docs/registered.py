"""Finds what runs a test: a CMake list that names it or takes all files like it, or the Makefile."""

import functools
import re
from pathlib import PurePath

from tests.docs.pages import files, read

_LIST = re.compile(r"/(?:CMakeLists\.txt|[^/]+\.cmake)$")
_REMARK = re.compile(r"^\s*#.*$", re.MULTILINE)
_GLOB = re.compile(r"\bGLOB(_RECURSE)? \w+ [^)]*?(\S*\*\S*)\)")


@functools.lru_cache(maxsize=None)
def _text(file):
    return _REMARK.sub("", read(file))


@functools.lru_cache(maxsize=None)
def _lists(folder):
    return [name for name in files() if _LIST.search(name) and str(PurePath(name).parent) == folder]


def named(text, file, folder):
    """Tells whether a list of that folder names a test: a source by its path from there, a module by its own name."""
    path = PurePath(file)
    if any(path.match(pattern) for recurse, pattern in _GLOB.findall(text) if recurse or str(path.parent) == folder):
        return True
    word = rf"\b{path.stem}" if path.suffix == ".py" else rf"(?<![\w/]){re.escape(str(path.relative_to(folder)))}"
    return re.search(rf"{word}\b", text) is not None


def runner(file):
    """Returns the file that runs a test, or None. A data file is run by a test beside it that names it."""
    path = PurePath(file)
    if path.suffix not in (".py", ".cc"):
        beside = [name for name in files() if PurePath(name).parent == path.parent and name.endswith(".py")]
        return next((name for name in beside if path.name in read(name) and runner(name)), None)
    for folder in map(str, path.parents):
        for name in _lists(folder):
            if named(_text(name), file, folder):
                return name
    module = ".".join(path.with_suffix("").parts)
    return "Makefile" if re.search(rf"-m unittest .*\b{re.escape(module)}\b", _text("Makefile")) else None


def tests():
    """Returns all tests of the tree, by their file names."""
    return [name for name in files() if re.match(r"tests/(?:.*/)?(?:test_\w+\.py|\w+_test\.cc)$", name)]
