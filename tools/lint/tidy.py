"""Runs clang-tidy over every source that the given build directory compiles: tidy.py BUILD_DIR [FILE...]. Sources in
one batch (cmake/batches.cmake) are checked as one.

Tests are left to the compilers' warnings: GoogleTest's headers alone would double the time.
"""

import subprocess
import sys

import tree


def main(build_dir, only=()):
    commands = tree.compile_commands(build_dir)
    wanted = [f for f in tree.files(".cc", ".c") if f in commands]
    wanted = [f for f in wanted if f in only] if only else [f for f in wanted if not f.startswith("tests/")]
    sources = sorted({tree.compiled_by(commands[f]) for f in wanted})
    config = tree.read(".clang-tidy")
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout

    def check(path):
        result = subprocess.run(
            ["clang-tidy", "--quiet", "-p", build_dir, "--extra-arg=-Wno-unknown-warning-option", path],
            cwd=tree.ROOT, capture_output=True, text=True, check=False)
        return "" if result.returncode == 0 else result.stdout + result.stderr

    def salt(path):
        return config, version, tree.portable(tree.flags(commands[path]))

    return tree.check_all("tidy", sources, salt, check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
