"""Every static check. All of them run; the exit code is 1 when one complained.

    python3 tools/lint/run.py             everything
    python3 tools/lint/run.py NAME...     only these: format layers words house shell python headers tidy
    python3 tools/lint/run.py --fix       format the C and C++ files in place, and stop
"""

import subprocess
import sys

import headers
import house
import layers
import pycheck
import tidy
import tree
import words

BUILD = "build/dev"
C_FAMILY = (".cc", ".h", ".c", ".cu")


def run(command, files):
    return subprocess.run([*command, *files], cwd=tree.ROOT, check=False).returncode if files else 0


def check_format():
    files = tree.files(*C_FAMILY)
    status = run(["clang-format", "--dry-run", "-Werror"], files)
    print(f"format: {len(files)} files" + (", python3 tools/lint/run.py --fix mends them" if status else ""))
    return status


def check_shell():
    files = tree.files(".sh", ".ci/run")
    status = run(["shellcheck"], files)
    print(f"shell: {len(files)} files")
    return status


def configured(check):
    def configure_and_check():
        for command in (["cmake", "--preset", "dev"], ["cmake", "--build", BUILD, "--target", "crossover_generated"]):
            log = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True, check=False)
            if log.returncode:
                print(log.stdout + log.stderr, file=sys.stderr)
                return 1
        return check(BUILD)
    return configure_and_check


CHECKS = {
    "format": check_format,
    "layers": layers.main,
    "words": words.main,
    "house": house.main,
    "shell": check_shell,
    "python": pycheck.main,
    "headers": configured(headers.main),
    "tidy": configured(tidy.main),
}


def main(arguments):
    if arguments == ["--fix"]:
        return run(["clang-format", "-i"], tree.files(*C_FAMILY))
    unknown = [a for a in arguments if a not in CHECKS]
    if unknown:
        print(f"lint: argument: expected --fix or some of {', '.join(CHECKS)}, got {unknown[0]!r}", file=sys.stderr)
        return 2
    failed = [name for name in arguments or CHECKS if CHECKS[name]() != 0]
    print(f"lint: complaints from {', '.join(failed)}" if failed else "lint: clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
