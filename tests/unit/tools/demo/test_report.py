import unittest
import xml.etree.ElementTree as ElementTree

from testing.logs import parse_trace
from tests.unit.testing import samples
from tools.demo import report, table, timeline, turns

ROWS = (table.Row("alone, one after the other", (32.0, 32.4), 1.0, 0.62, None),
        table.Row("free-running, MPS", (50.0, 51.0), 1.28, 0.8, True, "void: 71% of all cores used"),
        table.Row("Crossover", (41.0, 41.5), 1.57, 0.98, True))
OUTCOME = table.Outcome(("alpha", "<beta>"), ROWS, 40.4, 40.0, 20.0, 12.0, ("a condition & more",), ("a limit",))


SVG = "{http://www.w3.org/2000/svg}"


class Table(unittest.TestCase):
    def test_columns_line_up(self):
        lines = table.text(OUTCOME).splitlines()
        self.assertIn("41.0 ms", lines[4])
        self.assertEqual(lines[2].index("reference") + len("reference"), lines[4].index("identical") + len("identical"))

    def test_bound_and_remarks_are_said(self):
        text = table.text(OUTCOME)
        self.assertIn("gain 1.59x", text)
        self.assertIn("free-running, MPS: void: 71%", text)

    def test_different_losses_shout(self):
        row = table.Row("Crossover", (41.0, 41.5), 1.57, 0.98, False)
        self.assertIn("DIFFERENT", table.cells(OUTCOME, row))


class Timeline(unittest.TestCase):
    def setUp(self):
        self.turns = turns.turns_of(parse_trace(samples.trace_lines()))
        self.svg = timeline.svg(self.turns, 40 * samples.MS, 140 * samples.MS)

    def test_is_well_formed_with_one_bar_per_turn(self):
        root = ElementTree.fromstring(self.svg)
        holds = [t for t in root.iter(f"{SVG}title") if "holds" in t.text]
        self.assertEqual(len(holds), 10)  # five turns of 20 ms on each of two GPUs

    def test_bars_stay_inside_the_picture(self):
        for bar in ElementTree.fromstring(self.svg).iter(f"{SVG}rect"):
            if bar.find(f"{SVG}title") is not None:
                self.assertGreaterEqual(float(bar.get("x")), 130)
                self.assertLessEqual(float(bar.get("x")) + float(bar.get("width")), 1130.1)

    def test_generated_names_are_readable(self):
        self.assertIn("node1 GPU 1", self.svg)
        self.assertEqual(timeline.short_name("GPU-4b1d"), "GPU-4b1d")


    def test_the_legend_has_room_for_long_names(self):
        found = [turns.Turn("GPU-a", 0, "a-rather-long-namespace/alpha", 0, 0, samples.MS)]
        texts = {t.text: float(t.get("x")) for t in ElementTree.fromstring(
            timeline.svg(found, 0, samples.MS)).iter(f"{SVG}text")}
        self.assertGreater(texts["waits"] - texts["a-rather-long-namespace/alpha computes"], 37 * 7)


class Html(unittest.TestCase):
    def setUp(self):
        self.page = report.html(OUTCOME, turns.turns_of(parse_trace(samples.trace_lines())))

    def test_that_the_guard_had_them_take_no_turns_is_said(self):
        self.assertNotIn("side by side", self.page)
        found = turns.turns_of(parse_trace(samples.trace_lines()))
        self.assertIn("For 40% of the time the guard had the jobs run side by side", report.html(OUTCOME, found, 0.4))

    def test_needs_nothing_else(self):
        for reference in ("src=", "href=", "<script", "@import", "url(http"):
            self.assertNotIn(reference, self.page)

    def test_names_are_escaped(self):
        self.assertIn("&lt;beta&gt;", self.page)
        self.assertNotIn("<beta>", self.page)

    def test_says_what_it_shows(self):
        for text in ("1.57x", "a condition &amp; more", "a limit", "void: 71%", "<svg"):
            self.assertIn(text, self.page)

    def test_two_holders_at_once_are_called_out(self):
        found = turns.turns_of(parse_trace(samples.trace_lines()))
        doubled = found + [turns.Turn(found[0].gpu, 9, "beta", 0, found[0].begin_ns + 1, found[0].end_ns)]
        self.assertIn("1 of them held by two at once, by the trace", report.html(OUTCOME, doubled))

    def test_without_a_trace_it_says_so(self):
        self.assertIn("No turns were traced", report.html(OUTCOME, []))


if __name__ == "__main__":
    unittest.main()
