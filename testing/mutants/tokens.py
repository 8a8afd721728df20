"""Splits a C++ file into tokens, each with its place. Comments, preprocessor directives and string literals are tokens
of their own kinds, so that a mutation leaves them alone."""

import re
from dataclasses import dataclass

_PATTERN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
      |(?P<text>(?:u8|[uUL])?R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
        |'(?:[^'\\\n]|\\.)+')
      |(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<mark><=>|->\*?|<<=|>>=|\.\.\.|::|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[^\s\w])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Token:
    """A Token has its place: `line` begins at 1, `column` at 0."""

    kind: str
    text: str
    line: int
    column: int

    @property
    def end(self):
        return self.column + len(self.text)


def tokens(source):
    """Returns all tokens in order, without white space."""
    found, line, start, seen = [], 1, 0, 0
    for match in _PATTERN.finditer(source):
        breaks = source.count("\n", seen, match.start())
        if breaks:
            line += breaks
            start = source.rindex("\n", seen, match.start()) + 1
        seen = match.start()
        found.append(Token(match.lastgroup if match.lastgroup != "delimiter" else "text", match.group(), line,
                           match.start() - start))
    return found


def code_by_line(source):
    """Returns {line: its tokens that are code}, without comments and directives. A token counts for the line where it
    begins."""
    lines = {}
    for token in tokens(source):
        if token.kind not in ("comment", "directive"):
            lines.setdefault(token.line, []).append(token)
    return lines
