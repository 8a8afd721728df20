"""Checks that every header compiles on its own, so that includes can stand in any order: headers.py BUILD_DIR.

A header that its own source includes first is checked wherever that source is compiled. The others are compiled here.
"""

import os
import subprocess
import sys

import tree


def source_of(header):
    return header.rsplit(".", 1)[0] + ".cc"


def flags_for(header, commands):
    """Returns the flags of the header's own source, else of one that includes it, else of the nearest in the tree."""
    def shared_prefix(source):
        return len(os.path.commonpath([os.path.dirname(header) or ".", os.path.dirname(source) or "."]))

    candidates = [f for f in commands if f.endswith(".cc")]
    own = source_of(header)
    if own not in commands:
        users = [f for f in candidates if header in (name for _, name, _ in tree.includes(f))]
        own = max(sorted(users or candidates), key=shared_prefix)
    return tree.flags(commands[own])


def is_first(header, commands):
    """Tells whether its own source includes the header first."""
    own = source_of(header)
    return own in commands and [name for _, name, _ in tree.includes(own)][:1] == [header]


def main(build_dir):
    commands = tree.compile_commands(build_dir)
    headers = [header for header in tree.files(".h") if not is_first(header, commands)]

    def check(path):
        result = subprocess.run(
            ["clang++", "-fsyntax-only", "-x", "c++", "-Wno-pragma-once-outside-header",
             *flags_for(path, commands), path],
            cwd=tree.ROOT, capture_output=True, text=True, check=False)
        return result.stderr if result.returncode else ""

    return tree.check_all("headers", headers, lambda path: tree.portable(flags_for(path, commands)), check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
