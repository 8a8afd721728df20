"""Reads which versions a tree has, from the files that define them."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.refused import refusal

TREE = Path(__file__).resolve().parents[2]
NUMBERS = ("protocol", "page", "signals")
PROGRAMS = ("deviceplugin", "extender")
_PROJECT = "CMakeLists.txt"
_CHART = "charts/crossover/Chart.yaml"
_SCHEMA = "charts/crossover/values.schema.json"
_DEFINITIONS = "manifests/crds"
_NODE = "proto/crossover_node.proto"
_CDI = "deviceplugin/plugin/cdi_spec.cc"
MACROS = {"protocol": ("proto/arbiter_protocol.h", "CROSSOVER_PROTOCOL_VERSION"),
           "page": ("proto/turnstile.h", "CROSSOVER_TURNSTILE_VERSION"),
           "signals": ("proto/signaller_protocol.h", "CROSSOVER_SIGNAL_VERSION")}
_NAME = r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"


def is_name(text):
    """Tells whether this is the name of a release, such as 0.1.0."""
    return isinstance(text, str) and re.fullmatch(_NAME, text) is not None


def numbers(name):
    """Returns the name of a release as numbers, by which names are ordered."""
    return tuple(map(int, name.split(".")))


def digest(names):
    """Returns 12 hexadecimal digits that stand for a set of names."""
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:12]


class WorkingTree:
    """Reads files of the working tree."""

    def __init__(self, root=TREE):
        self._root = Path(root)

    def read(self, path):
        try:
            return (self._root / path).read_text(encoding="utf-8")
        except OSError as error:
            raise refusal(path, "file", "one that can be read", error.strerror) from error

    def names(self, folder):
        return sorted(each.name for each in (self._root / folder).glob("*"))


class Revision:
    """Reads files of a commit in a clone. Raises Refused if the clone does not have the commit; `where` is the file
    and the key that name it."""

    def __init__(self, revision, root=TREE, where=("argument", "revision")):
        self._root = Path(root)
        self._revision = revision
        if self._git("cat-file", "-e", f"{revision}^{{commit}}") is None:
            raise refusal(*where, "a commit of this clone", revision)

    def read(self, path):
        text = self._git("show", f"{self._revision}:{path}")
        if text is None:
            raise refusal(path, "file", f"one of commit {self._revision}", "none")
        return text

    def names(self, folder):
        return (self._git("ls-tree", "--name-only", f"{self._revision}:{folder}") or "").split()

    def _git(self, *arguments):
        done = subprocess.run(["git", *arguments], cwd=self._root, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None


@dataclass(frozen=True)
class Facts:
    """Holds the versions of one tree. Lists of names are sorted."""
    name: str
    protocol: int
    page: int
    signals: int
    chart: str
    definitions: dict  # by name: (versions, fields)
    configuration: dict  # by program: keys
    cdi: str
    profiles: list  # fields of the file of a job's profile

    def entry(self, revision):
        """Returns the entry of the record for this tree."""
        return {"name": self.name, "revision": revision, **{key: getattr(self, key) for key in NUMBERS},
                "chart": self.chart,
                "definitions": {name: {"versions": versions, "fields": digest(fields)}
                                for name, (versions, fields) in self.definitions.items()},
                "configuration": {program: digest(keys) for program, keys in self.configuration.items()},
                "files": {"cdi": self.cdi, "profiles": digest(self.profiles)}}


def facts(tree):
    """Returns the Facts of a WorkingTree or a Revision. Raises Refused if a file does not tell."""
    return Facts(name=_found(tree, _PROJECT, "version", rf"^project\(crossover VERSION ({_NAME})[ )]"),
                 **{key: int(_found(tree, file, macro, rf"^#define {macro} (\d+)u$"))
                    for key, (file, macro) in MACROS.items()},
                 chart=_found(tree, _CHART, "version", rf"^version: ({_NAME})$"),
                 definitions=_definitions(tree),
                 configuration=_configuration(tree),
                 cdi=_found(tree, _CDI, "cdiVersion", r'\{"cdiVersion", "([0-9.]+)"\}'),
                 profiles=sorted(_message_fields(_messages(tree.read(_NODE)), "JobProfile")))


def _found(tree, file, key, pattern):
    found = re.findall(pattern, tree.read(file), re.MULTILINE)
    if len(found) != 1:
        raise refusal(file, key, "it once", f"it {len(found)} times")
    return found[0]


def _definitions(tree):
    found = {}
    for file in tree.names(_DEFINITIONS):
        path = f"{_DEFINITIONS}/{file}"
        text = tree.read(path)
        try:
            definition = yaml.safe_load(text)
            versions = {each["name"]: sorted(_schema_fields(each["schema"]["openAPIV3Schema"]))
                        for each in definition["spec"]["versions"]}
            name = definition["metadata"]["name"]
        except (yaml.YAMLError, KeyError, TypeError) as error:
            raise refusal(path, "text", "a CustomResourceDefinition", _one_line(error)) from error
        fields = [f"{version} {field}" for version, each in versions.items() for field in each]
        found[name] = (sorted(versions), sorted(fields))
    if not found:
        raise refusal(_DEFINITIONS, "files", "definitions", "none")
    return found


def _configuration(tree):
    text = tree.read(_SCHEMA)
    try:
        schema = json.loads(text)["properties"]
        return {program: sorted(set(_schema_fields(schema[program]["properties"]["config"]))) for program in PROGRAMS}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise refusal(_SCHEMA, "text", "a schema with the configuration of each program", _one_line(error)) from error


def _one_line(error):
    return f"{type(error).__name__} {' '.join(str(error).split())}"


def _schema_fields(schema, above=""):
    """Yields the paths of all properties of a JSON schema, such as `status.gpus[].uuid`."""
    for name, inner in schema.get("properties", {}).items():
        yield f"{above}{name}"
        yield from _schema_fields(inner, f"{above}{name}.")
    if "items" in schema:
        yield from _schema_fields(schema["items"], f"{above.removesuffix('.')}[].")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _schema_fields(schema["additionalProperties"], f"{above}*.")
    for choice in schema.get("anyOf", ()):
        yield from _schema_fields(choice, above)


def _messages(text):
    """Returns {message: {field: type}} of a .proto file whose messages do not lie within each other."""
    text = re.sub(r"//.*", "", text)
    return {name: {field: kind for kind, field in re.findall(r"(?:optional |repeated )?([\w.]+) (\w+) = \d+;", body)}
            for name, body in re.findall(r"^message (\w+) \{(.*?)\}", text, re.MULTILINE | re.DOTALL)}


def _message_fields(messages, name, above=""):
    if name not in messages:
        raise refusal(_NODE, "message", name, "none")
    for field, kind in messages[name].items():
        yield f"{above}{field}"
        if kind in messages:
            yield from _message_fields(messages, kind, f"{above}{field}.")
