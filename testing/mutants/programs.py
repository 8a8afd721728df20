"""Lists the unit tests of a build directory, and tells which of them a file is part of. It knows that from ninja's view
of the build and from what the linker took of each library."""

import re
import subprocess
from functools import cached_property, lru_cache
from pathlib import Path

_BUILD = re.compile(r"^build (?P<outputs>[^:]*): (?P<rule>\S+)(?P<inputs>[^|\n]*)(?:\| (?P<implicit>[^|\n]*))?",
                    re.MULTILINE)
_TEST = re.compile(r"^tests/unit/(?P<folder>.+)/CMakeFiles/(?P<name>\w+)\.dir/")


class Programs:
    """A Programs object looks at a build directory that is configured. `of` needs the tests to be built, too."""

    def __init__(self, tree, build):
        self._tree, self._build = Path(tree), Path(build)

    @cached_property
    def _edges(self):
        """Returns {output: (rule, inputs)}."""
        text = (self._build / "build.ninja").read_text(encoding="utf-8")
        edges = {}
        for match in _BUILD.finditer(text):
            inputs = (match["inputs"] + " " + (match["implicit"] or "")).split()
            for output in match["outputs"].replace("|", " ").split():
                edges[output] = match["rule"], inputs
        return edges

    @cached_property
    def tests(self):
        """Returns {program: the folder of its tests}."""
        found = {}
        for output, (rule, inputs) in self._edges.items():
            own = [match for name in inputs if (match := _TEST.match(name))]
            if own and rule.startswith("CXX_EXECUTABLE_LINKER") and any("gtest" in name for name in inputs):
                found[output] = f"tests/unit/{own[0]['folder']}"
        return found

    @lru_cache(maxsize=None)
    def _objects(self, target):
        """Returns all objects that a program or a library may be linked of."""
        if target.endswith(".o"):
            return frozenset({target})
        rule, inputs = self._edges.get(target, ("phony", []))
        if "LINKER" not in rule:
            return frozenset()
        return frozenset().union(*(self._objects(name) for name in inputs if name.endswith((".o", ".a"))))

    def linked_with(self, folders):
        """Returns the tests that may contain a part of these folders or files, as far as is known before the build."""
        places = [self._tree / folder for folder in folders]
        return [test for test in self.tests if any(Path(self._edges[name][1][0]).is_relative_to(place)
                                                   for name in self._objects(test) for place in places)]

    @cached_property
    def _sources(self):
        """Returns {object: the files of the tree that it was compiled from}."""
        said = self._run("ninja", "-t", "deps")
        found, current = {}, None
        for line in said.splitlines():
            if line.startswith(" "):
                path = Path(line.strip())
                path = path if path.is_absolute() else (self._build / path).resolve()
                if path.is_relative_to(self._tree):
                    found[current].add(str(path.relative_to(self._tree)))
            elif line:
                current = line.split(":")[0]
                found[current] = set()
        return found

    @lru_cache(maxsize=None)
    def _names(self, file):
        """Returns the names that an object defines for others and that no other object may define as well. Of a program
        it returns all defined names, because the linker may have hidden some."""
        said = self._run("nm", "--defined-only", "--format=posix", file)
        kinds = "TDBR" if file.endswith(".o") else "TDBRtdbr"
        return frozenset(words[0] for words in map(str.split, said.splitlines()) if words[1:] and words[1] in kinds)

    def _has(self, test, name):
        """Tells whether the linker took an object."""
        return name.startswith("tests/") or bool(self._names(name) & self._names(test))

    @lru_cache(maxsize=None)
    def of(self, file):
        """Returns {test that contains a part of a file: with how many equal folders their paths begin}. A header counts
        as part of what its .cc is part of, if it has one. A source that includes it for a type alone would be
        compiled for nothing."""
        source = str(Path(file).with_suffix(".cc"))
        file = source if any(source in files for files in self._sources.values()) else file
        mirror = Path("tests/unit", file).parts
        return {test: _common(mirror, Path(self.tests[test]).parts) for test in self.tests
                if any(file in self._sources.get(name, ()) and self._has(test, name) for name in self._objects(test))}

    def _run(self, *command):
        return subprocess.run(command, cwd=self._build, check=True, capture_output=True, text=True).stdout


def _common(one, other):
    """Returns with how many equal parts two paths begin."""
    return next((place for place, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
