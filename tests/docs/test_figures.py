"""Tests that the tables of figures show the kept results."""

import fnmatch
import re
import unittest

from benchmarks.runner import moved_on
from tests.docs.pages import TREE, read, tables
from tools import readme_figures


def unexplained(page, figures):
    """Returns the figures that the first table of the page does not explain."""
    rows = next(rows for head, rows in tables(page) if head[0] == "figures")
    patterns = [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row[0])]
    return [name for name in figures if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


class Figures(unittest.TestCase):
    tree = moved_on.Tree(TREE)

    def test_tables_are_what_was_kept(self):
        figures = readme_figures.kept(self.tree)
        for name, page in readme_figures.PAGES.items():
            text = page.read_text(encoding="utf-8")
            fresh = readme_figures.rewritten(text, name, figures, self.tree)
            self.assertEqual(text, fresh, "run python3 tools/readme_figures.py")
        self.assertGreater(len(figures), 70)

    def test_what_they_say_is_said(self):
        page, figures = read("docs/performance.md"), readme_figures.kept(self.tree)
        self.assertEqual(unexplained(page, figures), [])
        self.assertEqual(unexplained(page, [*figures, "another"]), ["another"], "the control")

    def entries(self):
        return [{"figure": "x", "case": case, "value": value, "unit": "ms", "goal": "<= 2", "ok": ok, "where": "w",
                 "samples": samples, "conditions": {"kind": kind}, "revision": "0" * 12, "taken": day, "stale": stale}
                for case, value, ok, samples, kind, day, stale in (
                    ("a", 1.0, True, [0.5, 1.0, 1.75], "processes", "2026-11-20", True),
                    ("b", 3.0, False, [3.0], "processes", "2026-11-22", False),
                    ("c", None, False, [], "processes", "2026-11-21", False),
                    ("d", 0.25, True, [0.25], "model", "2026-11-21", False))]

    def test_a_row_is_of_all_cases_and_shows_the_worst_run(self):
        entries = self.entries()
        self.assertEqual(readme_figures.cells(entries[:3]), ["1 to 3", "3", "ms", "<= 2", "1 of 3"])
        self.assertEqual(readme_figures.cells(entries[:1]), ["1", "1.75", "ms", "<= 2", "1 of 1"])
        day = "2026-11-20 `00000000` to 2026-11-22 `00000000`, 1 of 3 older than its code"
        self.assertEqual(readme_figures.missed_figures({"x": entries}, self.tree),
                         "| figure | case | measured | worst run | goal | taken |\n|---|---|---|---|---|---|\n"
                         "| `x` | `b` | 3 | 3 | <= 2 | 2026-11-22 `00000000` |\n"
                         "| `x` | `c` | missed | missed | <= 2 | 2026-11-21 `00000000` |\n")
        self.assertIn(f"| `x` | processes | 1 to 3 | 3 | ms | <= 2 | 1 of 3 | {day} | a |\n",
                      readme_figures.all_figures({"x": entries}, self.tree))

    def test_a_model_has_a_row_of_its_own(self):
        rows = readme_figures.all_figures({"x": self.entries()}, self.tree)
        self.assertIn("| `x` | model | 0.25 | 0.25 | ms | <= 2 | 1 of 1 | 2026-11-21 `00000000` | a |\n", rows)

    def test_what_is_older_than_its_code_is_marked(self):
        (entry, *_) = self.entries()
        self.assertEqual(readme_figures.taken([entry], self.tree), "2026-11-20 `00000000`, older than its code")
        undated = {**entry, "revision": "4dc02fb2e94a-dirty"}
        del undated["taken"]
        self.assertEqual(readme_figures.taken([undated], self.tree),
                         "day unknown `4dc02fb2-dirty`, older than its code")

    def test_a_table_that_is_stale_is_found(self):
        """This is the control."""
        page = readme_figures.PAGES["key"].read_text(encoding="utf-8")
        figures = readme_figures.kept(self.tree)
        self.assertNotEqual(page, readme_figures.rewritten(page.replace("`hook_ns`", "`hook`"), "key", {
            **figures, "hook_ns": [{**figures["hook_ns"][0], "value": 1000}]}, self.tree))


if __name__ == "__main__":
    unittest.main()
