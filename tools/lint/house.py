"""Checks more rules of the house: one parser of each cluster object, fields of these objects that common/api alone
reads, names that the field knows, and unit tests that lie as their sources do.

    python3 tools/lint/house.py          counts, and fails if there are more than house.json allows
    python3 tools/lint/house.py --list   every one of them
    python3 tools/lint/house.py --keep   writes house.json: counts may only fall

A parser is a function that turns the JSON of an object into a structure: `std::optional<T> Name(const json& object)`.
Those of one kind of object count together, whichever process has them. A reader that is no such function, such as the
handler of a watch or a check that picks single fields, is found by the fields that it reads: MODEL_FIELDS lists fields
of a Pod, a Node, a GPUNode or a JobProfile that no other object has. names.json has the names that one reading
of the tree found unclear, each with its place and the field's term. A name is still there if a file or folder of
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
MODEL = "common/api"
# These fields are read from objects by common/api alone.
MODEL_FIELDS = ("containerRuntimeVersion", "deletionGracePeriodSeconds", "deletionTimestamp", "disturbedAt", "gangSize",
                "healthy", "holders", "inputSeconds", "inputWait", "linkBytes", "linkBytesPerSecond", "maintenance",
                "memoryBytes", "milliCPU", "modeLimitedBy", "multiUser", "osImage",
                "peakMemoryBytes", "preemptionPolicy", "requested", "servedUser", "sharing",
                "stepAloneSeconds", "taints", "unschedulable", "withheld")
# These structures are made from one kind of object. Any other stands for a kind of its own.
OBJECTS = {"Pod": "Pod", "Node": "Node", "GpuNode": "GPUNode", "JobProfile": "JobProfile",
           "std::pair<ProfileId, ProfileRecord>": "JobProfile", "Budget": "PodDisruptionBudget"}
_PARSER = re.compile(r"^std::optional<(.+)> (\w+)\(const (?:nlohmann::)?json& object\) \{", re.MULTILINE)
# A call that reads a field has its name as an argument, or at the end of a path: kube::At(object, "key"),
# ListAt(object, {"status", "key"}).
_READ = re.compile(r',\s*(?:"(\w+)"[,)]|\{((?:"\w+"(?:, )?)+)\})')
_ROW = re.compile(r"^\| `([^`]+)` in `([^`]+)` \| (.+) \|$", re.MULTILINE)
_REMARK = re.compile(r"//.*$", re.MULTILINE)


def parsers(paths):
    """Returns {(folder, kind of object): [path: function]} of the parsers in the files of the processes and of what
    they share. The parsers of a kind are the same list for each folder that has one of them."""
    functions, folders = {}, {}
    for path in paths:
        folder = path.split("/")[0]
        if folder in (*PROCESSES, "common") and path.endswith((".cc", ".h")):
            for type_name, function in _PARSER.findall(tree.read(path)):
                kind = OBJECTS.get(type_name, type_name)
                functions.setdefault(kind, []).append(f"{path}: {function}")
                folders.setdefault(kind, set()).add(folder)
    return {(folder, kind): found for kind, found in functions.items() for folder in sorted(folders[kind])}


def read_again(paths):
    """Returns [(path, field)] of the reads of a field of MODEL_FIELDS outside common/api."""
    found = []
    for path in paths:
        if path.split("/")[0] in (*PROCESSES, "common") and path.endswith((".cc", ".h")) \
                and not path.startswith(f"{MODEL}/"):
            fields = {field for last, keys in _READ.findall(_REMARK.sub("", tree.read(path)))
                      for field in (last, *re.findall(r'"(\w+)"', keys))}
            found += [(path, field) for field in sorted(fields.intersection(MODEL_FIELDS))]
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
    again = read_again(paths)
    lines = [f"parsers: {kind} has {len(functions)}: {', '.join(functions)}"
             for kind, functions in sorted({kind: each for (_, kind), each in found.items()}.items())
             if len(functions) > 1]
    lines += [f"fields: {path}: {field} is read in {MODEL}" for path, field in again]
    tests = misplaced(paths)
    lines += [f"names: {place}: {name}" for place, name in names]
    lines += [f"tests: {path}: its source is in {folder}" for path, folder in tests]
    return ({"parsers": most_parsers(found), "fields": len(again), "names": len(names), "tests": len(tests)}, lines,
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
    print(f"house: at most {counts['parsers']} parsers of one object, {counts['fields']} fields read again, "
          f"{counts['names']} unclear names, {counts['tests']} unit tests apart from their sources")
    return 1 if more or old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
