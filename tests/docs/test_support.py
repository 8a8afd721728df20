"""Tests docs/support.md: it names versions that are pinned, tests that exist, and refusals that are made."""

import re
import unittest

from testing.cluster.rig import versions
from tests.docs.pages import code, files, read, section, sources, tables
from tests.docs.test_failures import fragments, wrong_test

PAGE = "docs/support.md"
_HELM = "chart requires kubeVersion: >="  # Helm's own words


def pins():
    """Returns {package: version} of the frameworks."""
    return dict(re.findall(r"^(\S+)==(\S+)$", read("tools/install/frameworks.txt"), re.MULTILINE))


def rows(text, *, state=None):
    """Returns the rows of all tables whose second column is the state."""
    found = [row for head, body in tables(text) if len(head) == 3 and head[1] == "" for row in body]
    return [row for row in found if state is None or row[1].startswith(state)]


def versions_tested(text, heading, pattern):
    return {found for row in rows(section(text, heading), state="tested") for found in re.findall(pattern, row[0])}


def untold(text):
    """Returns quoted words of refusals that no program says."""
    quoted = fragments(row[2] for row in rows(text) if row[1].startswith(("refused", "left alone")))
    return [words for words in quoted if words not in sources() and not words.startswith(_HELM)]


class Support(unittest.TestCase):
    def test_versions_are_those_that_the_tests_have(self):
        text = read(PAGE)
        self.assertEqual(versions_tested(text, "Kubernetes", r"^\d+\.\d+\.\d+$"), set(versions.pinned("kube")))
        self.assertIn(f"containerd {versions.default('containerd')}, ", text)
        for package, name in (("torch", "PyTorch"), ("jax", "JAX"), ("py-spy", "py-spy")):
            self.assertIn(f"| {name} {pins()[package]}", text)
        self.assertIn(f"NVIDIA's {pins()['nvidia-nccl-cu13']} loads", text)
        self.assertTrue(any(name.startswith("tools/install/helm-4.3.1/") for name in files()))
        self.assertIn(">=1.31.0-0", read("charts/crossover/Chart.yaml"))

    def test_what_is_tested_names_its_test(self):
        for row in rows(read(PAGE), state="tested"):
            with self.subTest(row[0]):
                named = [word for word in code(row[2]) if re.match(r"tests/|make |tools/", word)]
                self.assertTrue(named or "figures" in row[2], row)
                for word in named:
                    if word.startswith("tests/") and word.endswith((".py", ".cc")):
                        self.assertEqual(wrong_test(word), "")

    def test_refusals_are_quoted_as_they_are(self):
        text = read(PAGE)
        self.assertEqual(untold(text), [])
        self.assertEqual(untold(text.replace("one process drives several", "a process drives several"))[:1],
                         ["a process drives several GPUs"], "the control")

    def test_owners_are_those_that_are_known(self):
        text = section(read(PAGE), "Owners of pods")
        for kind in set(re.findall(r'\.kind = "(\w+)"|Kubeflow\("(\w+)"', read("extender/gang/owner_kinds.cc"))):
            self.assertIn("".join(kind), text)


if __name__ == "__main__":
    unittest.main()
