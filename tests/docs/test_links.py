"""Tests that all that the documentation points at exists: files, headings, pages that sources name, values of the
chart."""

import posixpath
import re
import unittest

import yaml

from tests.docs.pages import TREE, anchors, code, files, links, pages, read

_FOREIGN = ("http://", "https://", "mailto:")
# Sources, alerts and pages name a page and one of its headings so: docs/usage.md, "One owner"; docs/x.md#heading.
_NAMED = re.compile(r'\b((?:docs|charts|benchmarks|testing|tests|docker|manifests)/[\w./-]+\.md)(?:#([\w-]+))?'
                    r'(?:, \\?"([^"\\]+)\\?")?')
_SOURCES = (".cc", ".h", ".py", ".sh", ".yaml", ".txt", ".tpl")
_TOPS = ("benchmarks", "charts", "cli", "common", "deviceplugin", "docker", "docs", "examples", "extender", "manifests",
         "proto", "shrink", "sidecar", "simgpu", "testing", "tests", "tools", "turn")


def resolved(page, target):
    """Returns (file or folder, heading) that a link of a page leads to."""
    path, _, heading = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, heading


def broken_link(page, target):
    """Returns what is wrong with a link, or ""."""
    if target.startswith(_FOREIGN):
        return ""
    path, heading = resolved(page, target)
    if not (TREE / path).exists():
        return f"{page}: {target}: no such file"
    if heading and heading not in anchors(read(path)):
        return f"{page}: {target}: {path} has no such heading"
    return ""


def broken_name(where, match):
    """Returns what is wrong with a page that is named in a source, or ""."""
    path, heading, title = match.groups()
    if not (TREE / path).is_file():
        return f"{where}: {path}: no such file"
    text = read(path)
    if heading and heading not in anchors(text):
        return f"{where}: {path} has no heading {heading}"
    if title and f"**{title}" not in text and not re.search(rf"^#+ {re.escape(title)}$", text, re.MULTILINE):
        return f"{where}: {path} has no '{title}'"
    return ""


def paths_of(word):
    """Returns the paths of the tree that a word in backticks names. A word with a place to fill in has none."""
    top = word.split("/")[0]
    if top not in _TOPS or "/" not in word or not re.fullmatch(r"[\w./-]+", word):
        return []
    if re.search(r"[A-Z]{4}", word) and not word.endswith(".md"):
        return []
    return [word.rstrip("/")]


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        found = [wrong for page in pages() for target in links(read(page)) if (wrong := broken_link(page, target))]
        self.assertEqual(found, [])
        self.assertGreater(sum(len(links(read(page))) for page in pages()), 100)

    def test_one_that_does_not_is_found(self):
        """This is the control."""
        self.assertEqual(broken_link("docs/usage.md", "metrics.md#charging"), "docs/usage.md: metrics.md#charging: "
                         "docs/metrics.md has no such heading")
        self.assertIn("no such file", broken_link("docs/usage.md", "metric.md"))
        self.assertIn("no such heading", broken_link("README.md", "#nowhere"))
        self.assertEqual(broken_link("docs/usage.md", "metrics.md#of-the-node-daemon"), "")
        self.assertEqual(links("[a](b.md#c) `[d](e)` ![f](<g.svg>)\n\n    [h](i)\n"), ["b.md#c", "g.svg"])
        self.assertEqual(anchors("# A `b`, c: [d](e)\n## A\n## A\n```\n# no\n```\n"), {"a-b-c-d", "a", "a-1"})

    def test_pages_that_sources_name_are_there(self):
        found = [wrong for name in files() if name.endswith(_SOURCES) and name != "tests/docs/test_links.py"
                 for match in _NAMED.finditer(read(name)) if (wrong := broken_name(name, match))]
        self.assertEqual(found, [])
        wrong = _NAMED.search('as docs/usage.md, \\"One ownr\\" says')
        self.assertEqual(broken_name("x.cc", wrong), "x.cc: docs/usage.md has no 'One ownr'", "the control")

    def test_paths_in_backticks_are_there(self):
        """These are pages for users. Records of decisions are about their own time."""
        seen = 0
        for page in pages():
            if page.startswith("docs/design/") or page == "CHANGELOG.md":
                continue
            for word in code(read(page)):
                for path in paths_of(word):
                    seen += 1
                    there = (TREE / path).exists() or (TREE / posixpath.dirname(page) / path).exists()
                    self.assertTrue(there, f"{page}: {path}")
        self.assertGreater(seen, 50)
        self.assertEqual(paths_of("tests/cluster"), ["tests/cluster"], "the control")

    def test_keys_of_our_domain_are_there(self):
        known = set(re.findall(r"^\| `([a-z-]+)` \|", read("docs/annotations.md"), re.MULTILINE))
        known |= {"slot", "v1alpha1"}
        for page in pages():
            self.assertEqual(unknown_keys(read(page), known), set(), page)
        self.assertEqual(unknown_keys("crossover.dev/share, crossover.dev/shares", known), {"shares"}, "the control")

    def test_values_of_the_chart_are_there(self):
        values = yaml.safe_load(read("charts/crossover/values.yaml"))
        schema = {"deviceplugin.config", "extender.config"}  # these may have keys that values.yaml lacks
        seen = 0
        for page in pages():
            for name in re.findall(r"--set(?:-string)? '?([a-zA-Z.]+)", read(page)):
                seen += 1
                self.assertTrue(any(name.startswith(free) for free in schema) or has(values, name), f"{page}: {name}")
        self.assertGreater(seen, 8)
        self.assertFalse(has(values, "mps.enable"), "the control")


def unknown_keys(text, known):
    """Returns the keys of our domain on a page that do not exist: annotations, labels, the resource."""
    return set(re.findall(r"\bcrossover\.dev/([a-z][a-z0-9-]*[a-z0-9])", text)) - known


def has(values, name):
    for key in name.split("."):
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True


if __name__ == "__main__":
    unittest.main()
