"""Checks Python files lightly: they parse, use all that they import, have no lines over 120 columns, and import only
packages that are below their own (testing/README.md). Folders of benchmarks import each other in no circle."""

import ast
import sys

import layers
import tree

LINE = 120
# The files of a package do not import these others. The testing package is below benchmarks, and both are below tests.
ABOVE = {"testing": ("benchmarks", "tests", "tools"), "benchmarks": ("tests",), "tests": ("benchmarks",)}
# These folders test benchmarks, and import them.
TESTS_OF_BENCHMARKS = ("tests/docs/", "tests/process/benchmarks/", "tests/unit/benchmarks/", "tests/unit/tools/lint/")
# These figures count the tests of a class that do not pass, and import the class. benchmarks/cluster/reported.py does
# so, too: it finds its classes by their names.
FIGURES_OF_TESTS = tuple(f"benchmarks/{name}.py" for name in (
    "cluster/airgap", "cluster/doors", "cluster/opposed_helm", "cluster/skew", "cluster/upgrade",
    "cluster/webhook_faults", "node/cgroup_v2", "node/opposed_node", "scheduling/karpenter", "scheduling/recognition"))


def packages(parsed):
    """Yields (line, package) of all imports in a file, also of those within functions."""
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module.split(".")[0]


def may_import(path, package):
    """Returns whether a file may import a package."""
    own = path.split("/")[0]
    return package not in ABOVE.get(own, ()) or path.startswith((*TESTS_OF_BENCHMARKS, *FIGURES_OF_TESTS))


def folder_edges(paths):
    """Returns {(folder, folder that it imports): the first import, as path:line}, for folders of benchmarks."""
    edges = {}
    for path in paths:
        own = path.split("/")[:-1][:2]
        for node in ast.walk(ast.parse(tree.read(path), path)) if own[:1] == ["benchmarks"] else ():
            if isinstance(node, ast.ImportFrom) and not node.level:
                other = node.module.split(".")[:2]
                if own != other and own[0] == other[0] and len(own) == len(other) == 2:
                    edges.setdefault(("/".join(own), "/".join(other)), f"{path}:{node.lineno}")
    return edges


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
    for line, package in packages(parsed):
        if not may_import(path, package):
            yield line, f"{path.split('/')[0]} does not import {package} (testing/README.md)"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE:
            yield number, f"line over {LINE} columns"


def main():
    paths = tree.files(".py")
    found = [(path, *c) for path in paths for c in complaints(path)]
    if not found:  # so all files parse
        found += layers.complaints_of_circles(folder_edges(paths), "imports")
    for path, line, text in found:
        print(f"{path}:{line}: {text}", file=sys.stderr)
    print(f"python: {len(paths)} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
