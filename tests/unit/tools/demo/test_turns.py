import json
import unittest

from testing.logs import parse_trace
from tests.unit.testing import samples
from tools.demo import perfetto, turns


def _events(*rows):
    """Returns the events of one GPU. A row is (ns, slot, event, mode)."""
    keys = ("t_ns", "slot", "event", "mode")
    return parse_trace(json.dumps({"gpu": "GPU-a", "gang": "ab"[row[1]], **dict(zip(keys, row))}) for row in rows)


class Turns(unittest.TestCase):
    def setUp(self):
        self.turns = turns.turns_of(parse_trace(samples.trace_lines()))

    def test_every_hold_with_its_release_is_a_turn(self):
        self.assertEqual(len(self.turns), 24)
        second = [t for t in self.turns if t.gpu == samples.GPUS[0]][1]
        self.assertEqual((second.gang, second.waited_ms, second.held_ms), ("beta", 8, 20))

    def test_a_turn_without_release_is_left_out(self):
        cut = [line for line in samples.trace_lines(1, samples.GPUS[:1]) if '"release"' not in line]
        self.assertEqual(turns.turns_of(parse_trace(cut)), [])

    def test_a_client_that_leaves_while_holding_has_no_turn(self):
        events = [{"t_ns": t, "gpu": "GPU-a", "slot": 0, "gang": "alpha", "event": e}
                  for t, e in ((1, "hold"), (2, "leave"), (3, "join"), (4, "release"))]
        self.assertEqual(turns.turns_of(parse_trace(map(json.dumps, events))), [])

    def test_a_turn_ends_where_its_client_need_not_wait_any_more(self):
        found = turns.turns_of(_events((1, 0, "arrive"), (2, 0, "hold"), (5, 0, "mode", "observe"),
                                       (9, 0, "mode", "gate"), (10, 0, "release")))
        self.assertEqual([(t.asked_ns, t.begin_ns, t.end_ns) for t in found], [(1, 2, 5)])

    def test_the_part_without_turns(self):
        events = _events((0, 0, "join"), (5, 0, "mode", "observe"), (10, 1, "join"), (20, 1, "mode", "observe"),
                         (30, 0, "mode", "gate"), (50, 0, "leave"), (90, 1, "leave"))
        self.assertEqual(turns.without_turns(events), 10 / 40)  # both were there from 10 to 50
        self.assertEqual(turns.without_turns(_events((0, 0, "join"), (5, 0, "mode", "observe"), (9, 0, "leave"))), 0)

    def test_one_at_a_time(self):
        self.assertEqual(turns.overlaps_ms(self.turns), [])

    def test_two_at_once_is_seen(self):
        first = self.turns[0]
        both = self.turns + [turns.Turn(first.gpu, 9, "gamma", 0, first.begin_ns + 1, first.end_ns)]
        self.assertEqual(turns.overlaps_ms(both), [(first.end_ns - first.begin_ns - 1) / 1e6])

    def test_one_that_is_over_before_the_first_ends_is_seen(self):
        long, short, last = (turns.Turn("GPU-a", 0, "alpha", 0, begin * samples.MS, end * samples.MS)
                             for begin, end in ((0, 40), (10, 20), (30, 50)))
        self.assertEqual(turns.overlaps_ms([last, short, long]), [10, 10])
        self.assertEqual(turns.overlaps_ms([short, turns.Turn("GPU-b", 0, "alpha", 0, long.begin_ns, long.end_ns)]), [])

    def test_what_the_arbiters_saw_late_is_not(self):
        first = self.turns[0]
        late = first.end_ns - turns.BLUR_MS * samples.MS + 1
        self.assertEqual(turns.overlaps_ms(self.turns + [turns.Turn(first.gpu, 9, "gamma", 0, late, first.end_ns)]), [])

    def test_window_lies_where_turns_are(self):
        late = [turns.Turn("GPU-a", 0, gang, 0, t * samples.MS, (t + 1) * samples.MS)
                for gang in ("alpha", "beta") for t in (0, 1000)]
        many = [turns.Turn("GPU-a", 0, "alpha", 0, t * samples.MS, (t + 1) * samples.MS) for t in range(100, 150)]
        begin, end = turns.steady_window(late + many, 100 * samples.MS)
        self.assertLessEqual(begin, 105 * samples.MS)
        self.assertGreaterEqual(end, 145 * samples.MS)

    def test_window_lies_where_all_take_turns(self):
        begin, end = turns.steady_window(self.turns, 60 * samples.MS)
        self.assertEqual(end - begin, 60 * samples.MS)
        self.assertGreaterEqual(begin, 20 * samples.MS)


class ChromeTrace(unittest.TestCase):
    def setUp(self):
        self.trace = perfetto.chrome_trace(parse_trace(samples.trace_lines()), [samples.job("alpha")])

    def test_is_json_of_the_format(self):
        again = json.loads(json.dumps(self.trace))
        for entry in again["traceEvents"]:
            self.assertIn(entry["ph"], "XMi")
            self.assertIsInstance(entry["pid"], int)
            if entry["ph"] == "X":
                self.assertGreaterEqual(entry["ts"], 0)
                self.assertGreater(entry["dur"], 0)

    def test_spans_of_gpus_and_ranks(self):
        names = [e["name"] for e in self.trace["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(names.count("alpha"), 12)
        self.assertEqual(names.count("iteration 0"), 2)

    def test_what_the_arbiter_did_is_marked(self):
        marks = [e["name"] for e in self.trace["traceEvents"] if e["ph"] == "i"]
        self.assertEqual(marks, ["revoke alpha"])

    def test_times_are_microseconds_from_the_start(self):
        first = min(e["ts"] for e in self.trace["traceEvents"] if e["ph"] == "X")
        self.assertEqual(first, 0)


if __name__ == "__main__":
    unittest.main()
