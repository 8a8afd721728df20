"""Commands that pages of the documentation tell to type, and who runs each of them as it is written there."""

import re
from dataclasses import dataclass

from tests.docs.pages import pages, read

_BEGINS = re.compile(r"(?:[A-Z_]+=\S+ )*(?:[\w./$-]*/)?"
                     r"(?:kubectl|helm|make|crossover(?:-\w+)?|cmake|tar|ln|python3|run)(?: |$)")
_BLOCK = re.compile(r"^ {4,}(\S.*)$")
_REMARK = re.compile(r"(?:^|\s{2,})# .*$")

# A cluster's, run by tests/cluster/test_helm.py beneath two jobs that share.
LIVE = re.compile(r"kubectl (?!create namespace|label namespace)|helm (?:upgrade|rollback) ")
# The others: what is run so, and by which test or part of `make ci`. That of `make` is the Makefile's.
ELSEWHERE = (
    (r"kubectl (?:create|label) namespace |helm (?:install|test|uninstall) ", "tests/cluster/test_helm.py"),
    (r"(?:[A-Z]+=\S+ )?make ", "Makefile"),
    (r"(?:build/dev/bin/)?crossover-deviceplugin --standalone ", "tests/process/cli/test_profiles.py"),
    (r"python3 -m tests\.cluster\.rig", "tests/cluster/rig/__main__.py"),
    (r"crossover-deviceplugin --config ", "tests/cluster/node_daemon.py"),
    (r"crossover (?:top|timeline|mode|doctor)\b", "tests/process/cli/test_node.py"),
    (r"crossover profiles\b", "tests/process/cli/test_profiles.py"),
    (r"(?:build/dev/bin/)?crossover run ", "benchmarks/commands.py"),
    (r"crossover-extender --config ", "tests/cluster/control.py"),
    (r"crossover-extender --(?:holders|try-webhook)", "tests/cluster/test_helm.py"),
    (r"cmake --preset gpu |build/gpu/bin/|LD_PRELOAD=\$PWD/build/gpu/", "tools/check_bare.sh"),
    (r"(?:ONLY=\S+ )?benchmarks/gpu/run\b", "benchmarks/gpu/CMakeLists.txt"),
    (r"tar -xf |ln -s ", "tests/process/cli/test_package.py"),
    (r"(?:TRACES=\S+ )?python3 -m benchmarks\.placement_report", "benchmarks/placement_report/__main__.py"),
    (r"python3 -m benchmarks\.run ", "benchmarks/run.py"),
)


@dataclass(frozen=True)
class Command:
    page: str
    text: str

    @property
    def live(self):
        return LIVE.match(self.text) is not None

    @property
    def runner(self):
        """The file that runs it; "" where nobody does."""
        if self.live:
            return "tests/cluster/test_helm.py"
        return next((file for pattern, file in ELSEWHERE if re.match(pattern, self.text)), "")


def commands_in(page, text):
    """In their order; lines that a backslash joins are one."""
    found, begun = [], ""
    for line in text.splitlines():
        block = _BLOCK.match(line)
        words = _REMARK.sub("", block.group(1)).strip() if block else ""
        if not (begun or _BEGINS.match(words)):
            continue
        begun = f"{begun} {words}".strip()
        if begun.endswith("\\"):
            begun = begun[:-1].strip()
            continue
        found.append(Command(page, begun))
        begun = ""
    return found


def commands():
    """Of all pages for users and developers; one that stands on several is there once."""
    found = {}
    for page in pages():
        if not page.startswith("docs/design/"):
            for command in commands_in(page, read(page)):
                found.setdefault(command.text, command)
    return list(found.values())
