"""Finds in the sources of a revision the words that users type, scrape or read as names, and the sample objects and
messages of its tests."""

import json
import re

from benchmarks.runner.revisions import tree_of

_PRODUCT = ("proto", "common", "turn", "sidecar", "deviceplugin", "extender", "cli")
_SOURCES = (".h", ".cc", ".def")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_NO_CODE = re.compile(r"^\s*#include.*$|//.*$", re.MULTILINE)
_RAW = re.compile(r'R"(\w*)\((.*?)\)\1"', re.DOTALL)
# Reasons, kinds and conditions are whole literals. The other words may be a part of one.
_WORDS = {
    "metrics": re.compile(r"crossover_[a-z0-9_]+[a-z0-9]"),
    "annotations and labels": re.compile(r"crossover\.dev/[a-z][\w-]*"),
    "variables": re.compile(r"CROSSOVER_[A-Z_]+[A-Z]"),
    "reasons and kinds": re.compile(r"^[A-Z][a-z]+(?:[A-Z][a-z]+)+$"),
    "flags": re.compile(r"--[a-z][a-z-]+"),
}
_VALUES, _ALERTS = "charts/crossover/values.schema.json", "charts/crossover/files/alerts.yaml"
_REASONS = "common/base/watch_reason.h"  # why a client is only watched: values of the label `reason`
_REASON = re.compile(r"^      \"([^\";]+)\",$", re.MULTILINE)
_ALERT = re.compile(r"^\s*-?\s*alert: (\w+)$", re.MULTILINE)
_SAMPLE_FILES = re.compile(r"/samples/.*\.json$|^tests/fuzz/seeds/scheduler_wire/")
_SAMPLE_LITERALS = re.compile(r"golden\w*\.h$|owner_samples\.cc$")


def words(revision):
    """Returns {kind of word: the words} of the product at a revision."""
    chart = dict(_files(revision, (_VALUES, _ALERTS, _REASONS)))
    return {**words_in(text for path, text in _files(revision, _PRODUCT) if path.endswith(_SOURCES)),
            "reasons of watched clients": set(_REASON.findall(chart[_REASONS])),
            "values of the chart": set(_keys(json.loads(chart[_VALUES]))),
            "alerts": set(_ALERT.findall(chart[_ALERTS]))}


def _keys(schema, path=""):
    """Yields the keys that a schema has, each with those above it."""
    for name, below in schema.get("properties", {}).items():
        yield path + name
        yield from _keys(below, f"{path}{name}.")


def words_in(texts):
    """Returns {kind of word: the words} in the literals of C++ sources."""
    found = {kind: set() for kind in _WORDS}
    for text in texts:
        for literal in _LITERAL.findall(_NO_CODE.sub("", text)):
            for kind, pattern in _WORDS.items():
                found[kind].update(pattern.findall(literal))
    return found


def samples(revision):
    """Returns {sample: its first file} of a revision: the messages and objects that tests read."""
    found = {}
    for path, text in _files(revision, ("tests",)):
        if _SAMPLE_FILES.search(path):
            found.setdefault(text, path)
        if _SAMPLE_LITERALS.search(path):
            for _, literal in _RAW.findall(text):
                found.setdefault(literal.strip(), path)
    return found


def _files(revision, folders):
    """Yields (path, text) of the files in folders. Raises Failed if the history does not have the revision."""
    with tree_of(revision, *folders) as top:
        for path in sorted(top.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(top)), path.read_text(encoding="utf-8", errors="replace")
