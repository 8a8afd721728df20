"""Makes the library of an older revision, for controls: from its own sources, by the compiler of a build.

`recipe_of` reads the revision's list of sources. It is pure.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass

from benchmarks.runner.revisions import tree_of
from testing.processes import Failed

_FOLDERS = ("sidecar", "common/base", "proto", "turn")
_LINK = ("-static-libstdc++", "-static-libgcc", "-Wl,-z,nodelete", "-Wl,--no-undefined", "-Wl,--exclude-libs,ALL")


@dataclass(frozen=True)
class Recipe:
    sources: tuple
    options: tuple


def recipe_of(text):
    """Returns the Recipe that sidecar/CMakeLists.txt has. Raises Failed where a list is missing."""
    def words(name):
        found = re.search(rf"set\({name}\s+([^)]*)\)", text)
        if found is None:
            raise Failed(f"sidecar/CMakeLists.txt: expected set({name} ...), got none")
        return tuple(found.group(1).split())

    return Recipe(words("CROSSOVER_SIDECAR_SOURCES") + words("CROSSOVER_SIDECAR_ENTRIES"),
                  words("CROSSOVER_SIDECAR_OPTIONS"))


def library_of(revision, build):
    """Returns the file of the library of that revision, and makes it first where the build does not have it. Raises
    Failed where the history does not have the revision, or it does not compile."""
    library = build.known_bad(revision)
    if library.exists():
        return library
    with tree_of(revision, *_FOLDERS) as tree:
        recipe = recipe_of((tree / "sidecar" / "CMakeLists.txt").read_text(encoding="utf-8"))
        made = tree / library.name
        command = [build.configured("CMAKE_CXX_COMPILER"), "-std=c++20", "-O2", "-fPIC", "-shared", *recipe.options,
                   f"-I{tree}", "-isystem", build.configured("CROSSOVER_CUDA_INCLUDE"),
                   *(str(tree / "sidecar" / source) for source in recipe.sources), "-o", str(made), *_LINK,
                   f"-Wl,--version-script={tree / 'sidecar' / 'crossover.map'}", "-pthread", "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"the library of {revision} does not compile: {done.stderr.strip()[-500:]}")
        library.parent.mkdir(parents=True, exist_ok=True)
        beside = library.with_suffix(".new")
        shutil.copy(made, beside)
        beside.rename(library)  # it appears whole
    return library
