"""Writes the table of pods' annotations in docs/annotations.md from the sources:
python3 tools/annotations_reference.py [--check].

The rule of each is in common/annotations/rules.cc: its key, and in words what is allowed. The comment above a rule says
what it does, and behind "Default:" what holds without it. --check changes nothing and exits 1 if the page differs.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.reference_page import keep  # noqa: E402

PAGE = ROOT / "docs/annotations.md"
BEGIN, END = "<!-- annotations: tools/annotations_reference.py -->\n", "<!-- end of annotations -->\n"
NAMES, RULES = ROOT / "common/base/names.h", ROOT / "common/annotations/rules.cc"
_WORDS_ELSEWHERE = (ROOT / "common/base/shrink_level.h",)  # what else has words for allowed values

_NAME = re.compile(r'char (k\w+)\[\] = CROSSOVER_DOMAIN "/([a-z-]+)"')
_WORDS = re.compile(r'char (k\w+)\[\] = "([^"]+)"')
_TABLE = re.compile(r"^constexpr Rule \w+\[\] = \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
# A rule is a comment, then {base::NAME, a test whether a text is allowed, the words for what is allowed}. A function
# that says more of what is refused may follow.
_RULE = re.compile(r"((?: +// [^\n]*\n)+) +\{base::(k\w+),(.*?)\},\n(?= +// |\Z)", re.DOTALL)
_ALLOWED = re.compile(r'(?:"([^"]*)"|\b(k\w+))(?:,\s+base::[A-Z]\w+)?$')
_SAID = re.compile(r"(.*)\. Default: (.*)\.")


def table_of(source):
    """Returns the source of the rules of pods' annotations."""
    return _TABLE.search(source).group(1)


def rules(source, names, words_elsewhere=""):
    """Returns [(key, allowed values, what it says, what holds without it)]. `names` is {constant: key}, and
    `words_elsewhere` a source with more constants for allowed values."""
    words, found = dict(_WORDS.findall(source + words_elsewhere)), []
    for comment, name, rule in _RULE.findall(table_of(source)):
        literal, constant = _ALLOWED.search(rule).groups()
        says, default = _SAID.fullmatch(" ".join(re.findall(r"// (.*)", comment))).groups()
        found.append((names[name], words[constant] if constant else literal, says[0].lower() + says[1:], default))
    return found


def rules_of_the_tree():
    names = dict(_NAME.findall(NAMES.read_text(encoding="utf-8")))
    elsewhere = "".join(path.read_text(encoding="utf-8") for path in _WORDS_ELSEWHERE)
    return rules(RULES.read_text(encoding="utf-8"), names, elsewhere)


def table():
    lines = ["| key | allowed | says | default |", "|---|---|---|---|"]
    lines += [f"| `{key}` | {allowed} | {says} | {default} |" for key, allowed, says, default in rules_of_the_tree()]
    return "\n".join(lines) + "\n"


def rewritten(page):
    head, rest = page.split(BEGIN)
    return head + BEGIN + table() + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    sys.exit(keep(PAGE, rewritten, "tools/annotations_reference.py"))
