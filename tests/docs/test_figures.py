"""Tables of figures are of what was kept."""

import fnmatch
import re
import unittest

from tests.docs.pages import read, tables
from tools import readme_figures


def unexplained(page, figures):
    """Figures of which the page's first table does not say what they say."""
    rows = next(rows for head, rows in tables(page) if head[0] == "figures")
    patterns = [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row[0])]
    return [name for name in figures if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


class Figures(unittest.TestCase):
    def test_tables_are_what_was_kept(self):
        figures = readme_figures.kept()
        for name, page in readme_figures.PAGES.items():
            text = page.read_text(encoding="utf-8")
            fresh = readme_figures.rewritten(text, name, figures)
            self.assertEqual(text, fresh, "run python3 tools/readme_figures.py")
        self.assertGreater(len(figures), 70)

    def test_what_they_say_is_said(self):
        page, figures = read("docs/performance.md"), readme_figures.kept()
        self.assertEqual(unexplained(page, figures), [])
        self.assertEqual(unexplained(page, [*figures, "another"]), ["another"], "the control")

    def test_a_row_is_of_all_cases(self):
        entries = [{"figure": "x", "case": case, "value": value, "unit": "ms", "goal": "<= 2", "ok": ok, "where": "w"}
                   for case, value, ok in (("a", 1.0, True), ("b", 3.0, False), ("c", None, False))]
        self.assertEqual(readme_figures.cells(entries), ["1 to 3", "ms", "<= 2", "1 of 3"])
        self.assertEqual(readme_figures.missed_figures({"x": entries}),
                         "| figure | case | measured | goal |\n|---|---|---|---|\n"
                         "| `x` | `b` | 3 | <= 2 |\n| `x` | `c` | missed | <= 2 |\n")
        self.assertIn("| `x` | 1 to 3 | ms | <= 2 | 1 of 3 | a |\n\n- a: w\n",
                      readme_figures.all_figures({"x": entries}))

    def test_a_table_that_is_stale_is_found(self):
        """The control."""
        page = readme_figures.PAGES["key"].read_text(encoding="utf-8")
        figures = readme_figures.kept()
        self.assertNotEqual(page, readme_figures.rewritten(page.replace("`hook_ns`", "`hook`"), "key", {
            **figures, "hook_ns": [{**figures["hook_ns"][0], "value": 1000}]}))


if __name__ == "__main__":
    unittest.main()
