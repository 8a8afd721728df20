"""Tests that docs/metrics.md, annotations.md, kubectl.md and usage.md agree with the sources."""

import re
import unittest

from testing.chart import TREE, metrics
from tools import annotations_reference, metrics_reference

_NAME = re.compile(r'char k\w+(?:Annotation|Label|Gate)\[\] = CROSSOVER_DOMAIN "/([a-z-]+)"')


def read(path):
    return (TREE / path).read_text(encoding="utf-8")


def rows(page):
    """Returns {key: cells of its first row} of all tables of a page whose first cell is a key."""
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            found.setdefault(cells[0].strip("`"), cells[1:])
    return found


def checks_named(page):
    """Returns the names in the first column of the page's table of checks, in their order."""
    table = page.partition("| check | looks at |\n")[2].partition("\n\n")[0]
    return [name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])]


class References(unittest.TestCase):
    def test_metrics_are_those_of_the_sources(self):
        page = metrics_reference.PAGE.read_text(encoding="utf-8")
        self.assertEqual(page, metrics_reference.rewritten(page), "run python3 tools/metrics_reference.py")

    def test_no_metric_is_overlooked(self):
        """The pattern that finds metrics with their help overlooks none, and neither does the table of labels."""
        found = {name for program in metrics_reference.SOURCES for name in metrics_reference.metrics(program)}
        self.assertEqual(found, metrics())
        self.assertGreater(len(found), 70)
        self.assertEqual(set(metrics_reference.LABELS) - found, set())

    def test_a_metric_is_found_with_its_help(self):
        source = '''Family("crossover_a_total", "Of \\"a\\", "\n"and more.", MetricType::Counter);
                    gauge("crossover_b", "Of b.", state.b), metrics_.Counter("crossover_c_total", "Of c", [] {});
                    BuildHistogram().Name("crossover_d_seconds").Help("Of d.")'''
        self.assertEqual(metrics_reference.found_in(source),
                         {"crossover_a_total": ("counter", 'Of "a", and more.'), "crossover_b": ("gauge", "Of b."),
                          "crossover_c_total": ("counter", "Of c."), "crossover_d_seconds": ("histogram", "Of d.")})

    def test_annotations_are_those_of_the_sources(self):
        named = rows(read("docs/annotations.md"))
        known = set(_NAME.findall(read("common/base/names.h"))) | set(_NAME.findall(read("extender/gang/made_room.h")))
        self.assertEqual(set(named) - {"webhook"}, known)
        self.assertGreater(len(known), 15)
        self.assertIn("{{ $domain }}/webhook, ", read("charts/crossover/templates/webhook/configuration.yaml"))
        page = annotations_reference.PAGE.read_text(encoding="utf-8")
        self.assertEqual(page, annotations_reference.rewritten(page), "run python3 tools/annotations_reference.py")
        source = annotations_reference.RULES.read_text(encoding="utf-8")
        self.assertEqual(len(annotations_reference.rules_of_the_tree()),
                         annotations_reference.table_of(source).count("{base::"), "one has no words above it")

    def test_an_annotation_is_found_with_its_words(self):
        source = '''constexpr char kText[] = "any text";
constexpr Rule kOfPods[] = {
    // Which `a`; or
    // none. Default: one. Or two.
    {base::kA, [](const char* text) { return Same(text, "b") || Same(text, "c"); },
     "b or c"},
    // What. Default: nothing.
    {base::kB, IsB, kText},
    // Why. Default: so.
    {base::kC, [](const char* text) { return base::COf(text) != 0; }, base::kWords, base::MoreOf},
};'''
        elsewhere = 'constexpr char kWords[] = "c or d";'
        self.assertEqual(annotations_reference.rules(source, {"kA": "a", "kB": "b", "kC": "c"}, elsewhere),
                         [("a", "b or c", "which `a`; or none", "one. Or two"), ("b", "any text", "what", "nothing"),
                          ("c", "c or d", "why", "so")])

    def test_checks_of_the_doctor_are_those_of_the_sources(self):
        checks = re.findall(r'^      \{"(\w+)",', read("cli/cluster/checks.cc"), re.MULTILINE)
        self.assertGreaterEqual(len(checks), 20)
        self.assertEqual(list(rows(read("docs/kubectl.md"))), checks)

    def test_checks_of_the_doctor_of_a_machine_are_those_of_the_sources(self):
        checks = re.findall(r'^    \{"(\w+)", \w+\},$', read("cli/doctor/checks.cc"), re.MULTILINE)
        self.assertGreaterEqual(len(checks), 20)
        self.assertEqual(checks_named(read("docs/usage.md")), checks)
        self.assertEqual(checks_named("| check | looks at |\n|---|---|\n| `a`, `b` | c |\n\n| `d` | e |\n"), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
