"""Tests that each command of the documentation is run by a test of a cluster as it is written, or by another file in a
similar form, or that there is a reason why not. What a command names must exist."""

import re
import unittest

from benchmarks.runner.catalogue import FIGURES
from tests.docs.commands import Command, commands, commands_in
from tests.docs.pages import TREE, files, read

_PAGE = """A page.

    make bench ONLY=eta         # one
    helm install crossover charts/crossover \\
      --set mps.enabled=true
    max by (node) (crossover_gain_ratio)        # no command

      kubectl get gpunode NODE -o jsonpath='{.status.gpus[*].withheld}'    # why not

Or `kubectl get crd x`, as `helm upgrade` does; `skopeo copy a
b` or `podman load`.

```
 A alone  [ run ]      a picture
LIBRARY=x ./program    # one
```

```yaml
make: nothing
make nothing
```
"""


def missing(command):
    """Returns what a command names that does not exist, or ""."""
    makefile = read("Makefile")
    target = re.search(r"\bmake ([a-z-]+)", command.text)
    if target and f"\n{target.group(1)}:" not in makefile:
        return f"{command.text}: no such target"
    for file in re.findall(r"(?<!\S)(?:charts|deviceplugin|benchmarks|manifests|tools|examples|docker)/[\w./-]+",
                           command.text):
        if not (TREE / file).exists():
            return f"{command.text}: no {file}"
    label = re.search(r"\bctest .*-L (\w+)", command.text)
    if label and not any(re.search(rf"LABELS \"?{label.group(1)}\b", read(file)) for file in files()
                         if file.endswith("CMakeLists.txt")):
        return f"{command.text}: no test has that label"
    figures = re.search(r"make bench ONLY=(\S+)", command.text)
    absent = [figure for figure in (figures.group(1).split(",") if figures else ())
              if figure not in FIGURES]
    return f"{command.text}: no figure {absent[0]}" if absent else ""


class Commands(unittest.TestCase):
    def test_blocks_are_read(self):
        self.assertEqual([command.text for command in commands_in("page", _PAGE)],
                         ["make bench ONLY=eta", "helm install crossover charts/crossover --set mps.enabled=true",
                          "kubectl get gpunode NODE -o jsonpath='{.status.gpus[*].withheld}'", "LIBRARY=x ./program",
                          "kubectl get crd x", "skopeo copy a b"])

    def test_each_is_run_by_a_test_or_it_is_known_why_not(self):
        found = commands()
        self.assertGreater(len(found), 50, "the pages have that many")
        self.assertEqual([f"{each.page}: {each.text}" for each in found if not each.runner and not each.by_hand], [])
        self.assertEqual({each.runner for each in found if each.runner and each.runner[1] not in read(each.runner[0])},
                         set())
        self.assertGreater(sum(each.live for each in found), 30)

    def test_what_they_name_is_there(self):
        self.assertEqual([wrong for each in commands() if (wrong := missing(each))], [])

    def test_what_is_not_is_found(self):
        """This is the control."""
        stray = Command("page", "helm frobnicate crossover")
        self.assertEqual((stray.runner, stray.by_hand), (None, ""))
        for text, found in (("make nothing", "no such target"), ("helm install x charts/other", "no charts/other"),
                            ("make bench ONLY=eta,none", "no figure none"), ("tools/other.sh dev", "no tools/other.sh"),
                            ("ctest -L other", "no test has that label")):
            self.assertIn(found, missing(Command("page", text)))


if __name__ == "__main__":
    unittest.main()
