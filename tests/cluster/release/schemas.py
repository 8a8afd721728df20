"""Writes JSON schemas of all kinds that an API server knows, in kubeconform's layout. They come from the server's
OpenAPI document, which has custom kinds, too.

For custom kinds that document lacks fields beneath "nullable" and "preserve unknown fields", "one of" and "any of"
schemas, and rules in CEL. A dry run at the API server checks those.
"""

import json
import subprocess

# kubeconform looks for a kind under this name. {} is the folder.
LOCATION = "{}/{{{{.ResourceKind}}}}-{{{{.Group}}}}-{{{{.ResourceAPIVersion}}}}.json"
_REF = "#/definitions/"
_EITHER = {"oneOf": [{"type": "string"}, {"type": "number"}]}


def write(openapi, folder):
    """Writes one file for each kind of an OpenAPI document of version 2. Fields that it does not name are errors."""
    definitions = openapi["definitions"]
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            group = kind["group"] or kind["version"]  # kubeconform takes the part before the slash, or all of it
            file = folder / f"{kind['kind'].lower()}-{group}-{kind['version']}.json"
            needed = {key: _strict(definitions[key]) for key in _needed(definitions, name)}
            file.write_text(json.dumps({"$ref": _REF + name, "definitions": needed}), encoding="utf-8")


def kubeconform(program, folder, text):
    """Checks a text of YAML against the schemas of `write`. Returns the finished process."""
    return subprocess.run([program, "-strict", "-summary", "-verbose", "-output", "json", "-schema-location",
                           LOCATION.format(folder), "-"],
                          input=text, text=True, capture_output=True, check=False)


def _needed(definitions, name):
    """Returns the names of a definition and of all definitions that it refers to."""
    found, todo = set(), [name]
    while todo:
        key = todo.pop()
        if key not in found:
            found.add(key)
            todo += _references(definitions[key])
    return sorted(found)


def _references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(_REF)
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _references(inner)


def _strict(schema):
    """Returns the schema in JSON schema's terms: it says where OpenAPI leaves "a number or a string" to words, and it
    permits no fields but the named ones."""
    if schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string"):
        return _EITHER
    made = {key: value for key, value in schema.items() if not key.startswith("x-") and key != "format"}
    if schema.get("description", "").startswith("Quantity is a fixed-point"):
        return _EITHER
    if "properties" in schema:
        made["properties"] = {key: _strict(value) for key, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            made.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            made[key] = _strict(schema[key])
    return made
