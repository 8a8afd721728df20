"""Reads the record of releases, and tells what a release or the tree may not have after another release."""

import re

import yaml

from tools.refused import Refused, refusal
from tools.releases.facts import NUMBERS, PROGRAMS, TREE, Revision, facts, is_name, numbers

FILE = "tools/releases/releases.yaml"
_DIGEST = re.compile(r"[0-9a-f]{12}")
_REVISION = re.compile(r"[0-9a-f]{40}")


class _Loader(yaml.SafeLoader):
    """Refuses a key that a mapping has twice. PyYAML keeps the last one."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else str(key.value)
            if name in seen:
                raise refusal(f"{FILE}:{key.start_mark.line + 1}", name, "it once", "it twice")
            seen.add(name)
        return super().construct_mapping(node, deep)


def _name(value, where):
    if not is_name(value):
        raise refusal(FILE, where, "a version such as 0.1.0", repr(value))


def _number(value, where):
    if type(value) is not int or value < 1:  # a bool is an int, too
        raise refusal(FILE, where, "a whole number from 1 on", repr(value))


def _text(pattern, expected):
    def check(value, where):
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise refusal(FILE, where, expected, repr(value))
    return check


def _keys(value, where, wanted):
    """Checks that a value is a mapping with these keys and no others."""
    if not isinstance(value, dict):
        raise refusal(FILE, where or "text", f"a mapping with {', '.join(wanted)}", repr(value))
    for key in value:
        if key not in wanted:
            raise refusal(FILE, f"{where}: key" if where else "key", f"one of {', '.join(wanted)}", repr(key))
    for key in wanted:
        if key not in value:
            raise refusal(FILE, f"{where}.{key}" if where else key, "a value", "none")


def _definitions(value, where):
    if not isinstance(value, dict) or not value:
        raise refusal(FILE, where, "a mapping with definitions", repr(value))
    for name, each in value.items():
        _keys(each, f"{where}.{name}", ("versions", "fields"))
        versions = each["versions"]
        if not isinstance(versions, list) or not versions or not all(isinstance(one, str) for one in versions):
            raise refusal(FILE, f"{where}.{name}.versions", "a list of versions", repr(versions))
        _digest(each["fields"], f"{where}.{name}.fields")


def _configuration(value, where):
    _keys(value, where, PROGRAMS)
    for program in PROGRAMS:
        _digest(value[program], f"{where}.{program}")


def _files(value, where):
    _keys(value, where, ("cdi", "profiles"))
    _text(r"\d+\.\d+\.\d+", "a version such as 0.5.0")(value["cdi"], f"{where}.cdi")
    _digest(value["profiles"], f"{where}.profiles")


_digest = _text(_DIGEST, "12 hexadecimal digits in quotes")
_CHECKS = {"name": _name, "revision": _text(_REVISION, "40 hexadecimal digits in quotes"),
           **dict.fromkeys(NUMBERS, _number), "chart": _name, "definitions": _definitions,
           "configuration": _configuration, "files": _files}


def entries(text):
    """Returns the entries of a record's text. Raises Refused if one is not as it has to be."""
    try:
        record = yaml.load(text, _Loader)  # noqa: S506 - it is a SafeLoader
    except yaml.YAMLError as error:
        line = error.problem_mark.line + 1 if getattr(error, "problem_mark", None) else 0
        raise refusal(f"{FILE}:{line}", "text", "YAML", getattr(error, "problem", None) or "something else") from error
    _keys(record, "", ("releases",))
    if not isinstance(record["releases"], list):
        raise refusal(FILE, "releases", "a list", repr(record["releases"]))
    for at, entry in enumerate(record["releases"]):
        _keys(entry, f"releases[{at}]", tuple(_CHECKS))
        for key, check in _CHECKS.items():
            check(entry[key], f"releases[{at}].{key}")
    return record["releases"]


def read(root=TREE):
    """Returns [(entry, Facts of its revision)] in the order of names, the newest last. Raises Refused if the record
    is not valid, or differs from what the revision of an entry has."""
    found = []
    for at, entry in enumerate(entries((root / FILE).read_text(encoding="utf-8"))):
        released = facts(Revision(entry["revision"], root, (FILE, f"releases[{at}].revision")))
        for key, value in released.entry(entry["revision"]).items():
            if entry[key] != value:
                raise refusal(FILE, f"releases[{at}].{key}", f"{value} as in commit {entry['revision']}", entry[key])
        if found and numbers(entry["name"]) <= numbers(found[-1][0]["name"]):
            raise refusal(FILE, f"releases[{at}].name", f"more than {found[-1][0]['name']}", entry["name"])
        found.append((entry, released))
    for (_, older), (_, newer) in zip(found, found[1:]):
        raise_first(complaints(older, newer, f"{FILE}: {newer.name}"))
    return found


def raise_first(found):
    if found:
        raise Refused(found[0])


def _raised(older, newer):
    """Returns which part of a name is higher than in another: major, minor, patch, or "" if the names are equal."""
    for part, before, now in zip(("major", "minor", "patch"), numbers(older), numbers(newer)):
        if now != before:
            return part if now > before else "lower"
    return ""


def complaints(older, newer, where):
    """Returns lines on what a tree may not have after a release, by what support.md promises. `older` and `newer` are
    Facts, and `where` names the newer ones."""
    step = _raised(older.name, newer.name)
    if step == "lower":
        return [str(refusal(where, "version", f"{older.name} or more", newer.name))]
    found = []

    def demand(part, what):
        """Complains unless the name was raised so far that the change may come."""
        order = ("", "patch", "minor", "major")
        if order.index(step) < order.index(part):
            found.append(str(refusal(where, "version", f"a higher {part} version than {older.name}, since {what}",
                                     newer.name)))

    if newer.chart != newer.name:
        found.append(str(refusal(where, "chart", newer.name, newer.chart)))
    for key in NUMBERS:
        before, now = getattr(older, key), getattr(newer, key)
        if not before <= now <= before + 1:
            found.append(str(refusal(where, key, f"{before} as in {older.name}, or {before + 1}", now)))
        elif now > before:
            demand("minor", f"{key} is {now} and was {before}")
    for what, before, now in _lists(older, newer):
        for name in sorted(set(before) - set(now)):
            demand("major" if what.startswith("definition") else "minor", f"{what} has no {name} any more")
        for name in sorted(set(now) - set(before)):
            demand("minor", f"{what} has {name}, which is new")
    if older.cdi != newer.cdi:
        demand("minor", f"cdi is {newer.cdi} and was {older.cdi}")
    return found


def _lists(older, newer):
    """Yields (what, names before, names now) for each list of names."""
    yield "definitions", older.definitions, newer.definitions
    for name in sorted(set(older.definitions) & set(newer.definitions)):
        (versions, fields), (versions_now, fields_now) = older.definitions[name], newer.definitions[name]
        yield f"definition {name}", [*versions, *fields], [*versions_now, *fields_now]
    for program in PROGRAMS:
        yield f"configuration of {program}", older.configuration[program], newer.configuration[program]
    yield "profile on a node", older.profiles, newer.profiles
