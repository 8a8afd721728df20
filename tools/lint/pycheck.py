"""Checks Python files lightly: they parse, use all that they import, and have no lines over 120 columns."""

import ast
import sys

import tree

LINE = 120


class Names(ast.NodeVisitor):
    def __init__(self):
        self.imported = {}
        self.used = set()

    def visit_Import(self, node):
        for alias in node.names:
            self.imported[(alias.asname or alias.name).split(".")[0]] = node.lineno

    def visit_ImportFrom(self, node):
        if node.module == "__future__":
            return
        for alias in node.names:
            self.imported[alias.asname or alias.name] = node.lineno

    def visit_Name(self, node):
        self.used.add(node.id)


def complaints(path):
    text = tree.read(path)
    try:
        parsed = ast.parse(text, path)
    except SyntaxError as error:
        yield error.lineno, error.msg
        return
    names = Names()
    names.visit(parsed)
    for name, line in names.imported.items():
        if name not in names.used and "__all__" not in text:
            yield line, f"'{name}' is imported and not used"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE:
            yield number, f"line over {LINE} columns"


def main():
    paths = tree.files(".py")
    found = [(path, *c) for path in paths for c in complaints(path)]
    for path, line, text in found:
        print(f"{path}:{line}: {text}", file=sys.stderr)
    print(f"python: {len(paths)} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
