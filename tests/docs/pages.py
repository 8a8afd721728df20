"""Pages of the documentation: their headings, links, tables and words; and the sources that they speak of."""

import functools
import re
import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
# Where the words of the product are: log lines, events, refusals.
_PRODUCT = ("cli", "common", "deviceplugin", "extender", "proto", "sidecar", "turn")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def files():
    """Of the working tree, as git sees it: tracked, or new and not ignored."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TREE,
                            check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in listed if name and (TREE / name).is_file()})


def pages():
    return [name for name in files() if name.endswith(".md")]


def prose(text):
    """A page without what is shown as it is typed: fences, indented blocks, comments."""
    return _COMMENT.sub("", _INDENTED.sub("", _FENCE.sub("", text)))


def anchor(heading):
    """What GitHub makes of a heading's words."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(text):
    """Of a page's headings; one that comes again has a number."""
    found = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", _FENCE.sub("", text), re.MULTILINE):
        name = anchor(heading)
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return set(found)


def links(text):
    """Targets of its links and pictures."""
    return re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", _CODE.sub("", prose(text)))


def code(text):
    """What stands between single backticks."""
    return [word.strip("`") for word in _CODE.findall(prose(text))]


def tables(text):
    """[(head, rows)], all of them lists of cells. A bar within a cell is written as \\|."""
    found, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])])
        elif current:
            found.append((current[0], current[2:]))
            current = []
    return found


def section(text, heading):
    """What stands under a heading, up to the next one that is no deeper."""
    begin = re.search(rf"^(#+) {re.escape(heading)} *$", text, re.MULTILINE)
    if begin is None:
        raise KeyError(f"no heading {heading}")
    rest = text[begin.end():]
    end = re.search(rf"^#{{1,{len(begin.group(1))}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


@functools.lru_cache(maxsize=None)
def sources():
    """All sources of the product, one after the other; literals that stand beside each other are one."""
    texts = [read(name) for name in files() if name.split("/")[0] in _PRODUCT and name.endswith((".cc", ".h", ".def"))]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(texts)).replace('\\"', '"')
