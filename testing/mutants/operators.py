"""Lists the mutations of a line of C++. Each is one small change of its code.

    relational   < <= > >= == !=      the bound moves by one, or the comparison says the opposite
    arithmetic   + - * / %, ++ --, += -= *= /=
    bitwise      & |, &= |=, << >>
    logical      && becomes ||, || becomes &&; a ! is removed
    constant     true and false change places; 0 becomes 1, 1 becomes 0; other numbers are doubled and halved
    condition    the condition of an if always holds, or never does; that of a while never does
    extreme      min and max change places, any_of, all_of and none_of likewise
    statement    an expression's statement, a break or a continue is removed
    return       an empty value is returned

Only a compiler knows which of them compile. String literals, comments and directives are left alone, and so are
lines that only declare a name. A binary operator stands between spaces, as clang-format writes it; the brackets of a
template do not.
"""

import re
from dataclasses import dataclass

from testing.mutants.tokens import code_by_line

_REPLACED = {
    "relational": {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
                   "!=": ("==",)},
    "arithmetic": {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",), "+=": ("-=",), "-=": ("+=",),
                   "*=": ("/=",), "/=": ("*=",)},
    "bitwise": {"&": ("|",), "|": ("&",), "&=": ("|=",), "|=": ("&=",), "<<": (">>",), ">>": ("<<",)},
    "logical": {"&&": ("||",), "||": ("&&",)},
}
_STEPS = {"++": "--", "--": "++"}
_EXTREMES = {"min": ("max",), "max": ("min",), "min_element": ("max_element",), "max_element": ("min_element",),
             "any_of": ("all_of", "none_of"), "all_of": ("any_of",), "none_of": ("any_of",)}
_TRUTHS = {"true": "false", "false": "true"}
# Lines that begin with these declare names, and change nothing.
_NAMES_ONLY = ("using", "namespace", "template", "static_assert", "friend", "typedef", "public", "private", "protected")
_NO_STATEMENT = (*_NAMES_ONLY, "return", "if", "for", "while", "do", "else", "switch", "case", "default", "const",
                 "constexpr", "static", "auto", "struct", "class", "enum", "inline", "explicit", "virtual", "goto",
                 "extern", "throw")
# These are empty, or another operator changes them.
_EMPTY = ("return;", "{};", "true;", "false;", "0;", "nullptr;", "std::nullopt;", '"";', "grpc::Status::OK;")
_DECLARES = re.compile(r"^(?:\w+::)*\w+(?:<.*>)?[&*]* +[&*]*\w+ ?(?:=|;|\(|\{|\[|,)|^\[\[")
_INTEGER = re.compile(r"^(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)$")
_FRACTION = re.compile(r"^([0-9']*\.[0-9']*(?:[eE][+-]?\d+)?|[0-9']+[eE][+-]?\d+)([fFlL]?)$")


@dataclass(frozen=True)
class Mutation:
    file: str
    line: int
    operator: str
    before: str  # the whole line, without the spaces around it
    after: str


def mutations(file, source):
    """Returns {line: its mutations, in order}, for lines that have any."""
    lines = source.split("\n")
    code = code_by_line(source)
    found, before = {}, None  # the token before the line
    for number, line_tokens in sorted(code.items()):
        text = lines[number - 1]
        changes = dict.fromkeys(_changes(text, line_tokens, before))
        before = line_tokens[-1]
        made = [Mutation(file, number, operator, text.strip(), _changed(text, *change).strip())
                for operator, *change in changes]
        if made:
            found[number] = made
    return found


def mutated(source, mutation):
    """Returns the source with that change. Raises ValueError if the line is another one."""
    lines = source.split("\n")
    text = lines[mutation.line - 1] if mutation.line <= len(lines) else ""
    if text.strip() != mutation.before:
        raise ValueError(f"{mutation.file}:{mutation.line}: expected {mutation.before!r}, got {text.strip()!r}")
    indent = text[:len(text) - len(text.lstrip())]
    lines[mutation.line - 1] = indent + mutation.after
    return "\n".join(lines)


def _changed(text, begin, end, replacement):
    return text[:begin] + replacement + text[end:]


def _changes(text, line, before):
    """Yields (operator, begin, end, replacement) of all changes of a line."""
    if line[0].text in _NAMES_ONLY:
        return
    for place, token in enumerate(line):
        if place and line[place - 1].text == "operator":
            continue  # the operator's name
        if token.kind == "mark":
            yield from _marks(text, token)
        elif token.kind == "number":
            yield from (("constant", token.column, token.end, other) for other in numbers(token.text))
        elif token.kind == "word":
            yield from _words(line, place, token)
    yield from _conditions(text, line)
    yield from _statements(text, line, before)


def _marks(text, token):
    if _has_two_sides(text, token):
        for operator, replaced in _REPLACED.items():
            yield from ((operator, token.column, token.end, other) for other in replaced.get(token.text, ()))
    elif token.text in _STEPS:
        yield "arithmetic", token.column, token.end, _STEPS[token.text]
    elif token.text == "!":
        yield "logical", token.column, token.end, ""


def _has_two_sides(text, token):
    return text[:token.column][-1:] in ("", " ") and text[token.end:][:1] in ("", " ")


def _words(line, place, token):
    follows = line[place + 1].text if place + 1 < len(line) else ""
    if token.text in _TRUTHS:
        yield "constant", token.column, token.end, _TRUTHS[token.text]
    elif token.text in _EXTREMES and follows in ("(", "<"):
        yield from (("extreme", token.column, token.end, other) for other in _EXTREMES[token.text])


def numbers(text):
    """Returns what a number becomes."""
    integer, fraction = _INTEGER.match(text), _FRACTION.match(text)
    if integer:
        base = 0 if text[:2].lower() in ("0x", "0b") else 10
        value, suffix = int(integer.group(1).replace("'", ""), base), integer[2]
        if value in (0, 1):
            return [f"{1 - value}{suffix}"]
        return [f"{2 * value}{suffix}", f"{value // 2}{suffix}"]
    if fraction:
        value, suffix = float(fraction.group(1).replace("'", "")), fraction[2]
        return [f"{2 * value!r}{suffix}", f"{value / 2!r}{suffix}"] if value else [f"1.0{suffix}"]
    return []


def _conditions(text, line):
    for place, token in enumerate(line[:-1]):
        if token.text not in ("if", "while") or line[place + 1].text != "(":
            continue
        inner = _within(line[place + 1:])
        if not inner or any(t.text in ("=", ";") for t in inner):
            continue
        begin, end = inner[0].column, inner[-1].end
        for value in ("true", "false") if token.text == "if" else ("false",):
            if text[begin:end] != value:
                yield "condition", begin, end, value


def _within(line):
    """Returns the tokens between the bracket with which `line` begins and the one that closes it, or [] if that is
    elsewhere."""
    depth = 0
    for place, token in enumerate(line):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0:
            return line[1:place]
    return []


def _statements(text, line, before):
    """Yields changes of a statement that is a whole line, or all that follows an if's brackets there."""
    rest = line
    if rest[0].text == "if" and len(rest) > 1:
        inner = _within(rest[1:])
        rest = rest[len(inner) + 3:] if inner else []
    elif before is not None and before.text not in (";", "{", "}", ":", ")", "else", "do"):
        return
    if not rest or rest[-1].text != ";" or sum({"(": 1, ")": -1}.get(t.text, 0) for t in rest) != 0:
        return
    begin, end = rest[0].column, rest[-1].end
    if rest[0].text == "return" and text[begin:end].removeprefix("return ") not in _EMPTY:
        yield "return", begin, end, "return {};"
    if rest[0].text in ("break", "continue") or _acts(text[begin:end], rest):
        yield "statement", begin, end, "{}"


def _acts(words, line):
    """Tells whether a statement is an expression that does something."""
    if line[0].text in _NO_STATEMENT or _DECLARES.match(words) or any(token.text == "operator" for token in line):
        return False
    return any(token.text == "(" or token.text in _STEPS or token.text.endswith("=") for token in line)
