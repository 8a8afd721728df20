"""Reads pages of the documentation: their headings, links, tables and words, and the sources that they are about."""

import functools
import re
import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
# The texts of the product are in these folders: log lines, events, refusals.
_PRODUCT = ("cli", "common", "deviceplugin", "extender", "proto", "shrink", "sidecar", "turn")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def files():
    """Returns the files of the working tree as git sees it: tracked, or new and not ignored."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TREE,
                            check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in listed if name and (TREE / name).is_file()})


def pages():
    return [name for name in files() if name.endswith(".md")]


def prose(text):
    """Returns a page without what is shown as it is typed (fences, indented blocks) and without comments."""
    return _COMMENT.sub("", _INDENTED.sub("", _FENCE.sub("", text)))


def anchor(heading):
    """Returns the anchor that GitHub makes of a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(text):
    """Returns the anchors of a page's headings. A heading that comes again has a number."""
    found = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", _FENCE.sub("", text), re.MULTILINE):
        name = anchor(heading)
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return set(found)


def links(text):
    """Returns the targets of a page's links and pictures."""
    return re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", _CODE.sub("", prose(text)))


def code(text):
    """Returns what stands between single backticks."""
    return [word.strip("`") for word in _CODE.findall(prose(text))]


def tables(text):
    """Returns [(head, rows)], all of them lists of cells. A bar within a cell is written as \\|."""
    found, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])])
        elif current:
            found.append((current[0], current[2:]))
            current = []
    return found


def section(text, heading):
    """Returns what stands under a heading, up to the next one that is no deeper. Raises KeyError if the heading is
    missing."""
    begin = re.search(rf"^(#+) {re.escape(heading)} *$", text, re.MULTILINE)
    if begin is None:
        raise KeyError(f"no heading {heading}")
    rest = text[begin.end():]
    end = re.search(rf"^#{{1,{len(begin.group(1))}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


@functools.lru_cache(maxsize=None)
def sources():
    """Returns all sources of the product as one text. Adjacent string literals are joined."""
    texts = [read(name) for name in files() if name.split("/")[0] in _PRODUCT and name.endswith((".cc", ".h", ".def"))]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(texts)).replace('\\"', '"')
