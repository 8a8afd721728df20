"""Checks three more rules of the house: one parser of each cluster object in a process, names that the field knows, and
unit tests that lie as their sources do.

    python3 tools/lint/house.py          counts, and fails where there are more than house.json allows
    python3 tools/lint/house.py --list   every one of them
    python3 tools/lint/house.py --keep   writes house.json: counts may only fall

A parser is a function that turns the JSON of an object into a structure: `std::optional<T> Name(const json& object)`.
Readers that pick single fields of an object, as the CLI does, are not found. names.json has the names that one reading
of the tree found unclear, each with its place and the field's term. A name is still there where a file or folder of
its place has it, or a type or function of its place. The glossary of CONTRIBUTING.md gives a reason for each that
stays.

A unit test NAME_test.cc that includes FOLDER/NAME.h of its component lies in tests/unit/FOLDER.
"""

import json
import re
import sys

import tree

KEPT = tree.ROOT / "tools/lint/house.json"
NAMES = tree.ROOT / "tools/lint/names.json"
GLOSSARY = "CONTRIBUTING.md"
PROCESSES = ("extender", "deviceplugin", "cli")
# These structures are made from one kind of object. Any other stands for a kind of its own.
OBJECTS = {"Pod": "Pod", "Node": "Node", "GpuNode": "GPUNode", "JobProfile": "JobProfile",
           "std::pair<ProfileId, ProfileRecord>": "JobProfile", "Budget": "PodDisruptionBudget"}
_PARSER = re.compile(r"^std::optional<(.+)> (\w+)\(const (?:nlohmann::)?json& object\) \{", re.MULTILINE)
_ROW = re.compile(r"^\| `([^`]+)` in `([^`]+)` \| (.+) \|$", re.MULTILINE)
_REMARK = re.compile(r"//.*$", re.MULTILINE)


def parsers(paths):
    """Returns {(process, kind of object): [path: function]} of the parsers in the files of each process."""
    found = {}
    for path in paths:
        process = path.split("/")[0]
        if process in PROCESSES and path.endswith((".cc", ".h")):
            for type_name, function in _PARSER.findall(tree.read(path)):
                kind = OBJECTS.get(type_name, type_name)
                found.setdefault((process, kind), []).append(f"{path}: {function}")
    return found


def most_parsers(found):
    return max((len(functions) for functions in found.values()), default=0)


def is_there(place, name, paths):
    """Returns whether a file or folder below `place` has this name, or a type or function in one of its files."""
    parts = {part.split(".")[0] for path in paths if path.startswith(f"{place}/")
             for part in path.removeprefix(f"{place}/").split("/")}
    if name in parts:
        return True
    declared = re.compile(rf"\b(?:class|struct|enum class|using) {name}\b(?!;)|^[\w:<>,&* ]*\b(?:\w+::)?{name}\(",
                          re.MULTILINE)
    return name[0].isupper() and any(declared.search(_REMARK.sub("", tree.read(path))) for path in paths
                                     if path.startswith(f"{place}/") and path.endswith((".cc", ".h")))


def glossary(text):
    """Returns {(place, name): reason} from the rows of the glossary."""
    return {(place, name): reason for name, place, reason in _ROW.findall(text)}


def left(table, reasons, paths):
    """Returns the (place, name) of the table that are still there and have no reason."""
    return [(row["place"], row["name"]) for row in table
            if (row["place"], row["name"]) not in reasons and is_there(row["place"], row["name"], paths)]


def stale(table, reasons, paths):
    """Returns the rows of the glossary that are about no name of the table, or one that is gone."""
    listed = {(row["place"], row["name"]) for row in table}
    return [key for key in reasons if key not in listed or not is_there(*key, paths)]


def misplaced(paths):
    """Returns (test, folder of its source) of each unit test that lies elsewhere. A test is of the source of its name
    whose header it includes."""
    folders = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        component = folder.split("/")[0]
        if component != "tests":
            folders.setdefault((component, name.rpartition(".")[0]), set()).add(folder)
    found = []
    for path in paths:
        parts = path.split("/")
        if parts[:2] == ["tests", "unit"] and path.endswith("_test.cc") and len(parts) > 3:
            name, text = parts[-1].removesuffix("_test.cc"), tree.read(path)
            of = {folder for folder in folders.get((parts[2], name), ())
                  if f'#include "{folder}/{name}.h"' in text}
            if of and "/".join(parts[2:-1]) not in of:
                found.append((path, min(of)))
    return found


def counted(paths, table=None, text=None):
    """Returns (counts, lines that name each, stale rows of the glossary)."""
    table = json.loads(NAMES.read_text(encoding="utf-8")) if table is None else table
    reasons = glossary(tree.read(GLOSSARY) if text is None else text)
    found, names = parsers(paths), left(table, reasons, paths)
    lines = [f"parsers: {process} has {len(functions)} of {kind}: {', '.join(functions)}"
             for (process, kind), functions in sorted(found.items()) if len(functions) > 1]
    tests = misplaced(paths)
    lines += [f"names: {place}: {name}" for place, name in names]
    lines += [f"tests: {path}: its source is in {folder}" for path, folder in tests]
    return ({"parsers": most_parsers(found), "names": len(names), "tests": len(tests)}, lines,
            stale(table, reasons, paths))


def main(arguments=()):
    counts, lines, old = counted(tree.files(".cc", ".h"))
    if "--list" in arguments:
        print("\n".join(lines))
    if "--keep" in arguments:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    more = [what for what, count in counts.items() if count > kept[what]]
    for what in more:
        print(f"house: {what}: expected {kept[what]} at most, got {counts[what]}: "
              "python3 tools/lint/house.py --list names them", file=sys.stderr)
    for place, name in old:
        print(f"{GLOSSARY}: glossary: expected names of names.json that are still there, got {name} in {place}",
              file=sys.stderr)
    print(f"house: at most {counts['parsers']} parsers of one object in a process, {counts['names']} unclear names, "
          f"{counts['tests']} unit tests apart from their sources")
    return 1 if more or old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
