"""Tests the queries of docs/chargeback.md and docs/metrics.md: their metrics exist, and their answers are those
promised."""

import re
import unittest

from testing.chart import TREE
from tests.charts.test_monitoring import check_rules, evaluated, groupings, mixed, recording, unknown


def of_chargeback():
    """Returns the two queries of the page, with sharing and without, changed to a period of one hour."""
    text = (TREE / "docs/chargeback.md").read_text(encoding="utf-8")
    found = re.findall(r"^```promql\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [query.replace("30d", "1h") for query in found]


def of_metrics():
    """Returns the queries of the page, which are its indented lines."""
    text = (TREE / "docs/metrics.md").read_text(encoding="utf-8")
    return [line.partition("#")[0].strip() for line in re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)]


def _series(more=""):
    """Returns two hours of series, of which the queries look at the second. Two jobs share GPU-1, each at 0.8 of its
    own speed. The first also has GPU-2 alone. `more` are labels."""
    series = {}
    for space, per_minute in (("red", 36), ("blue", 24)):
        of = f'{more}node="n", gpu_uuid="GPU-1", namespace="{space}", gang="{space}/job"'
        peer = "blue/job" if space == "red" else "red/job"
        series[f'crossover_slowdown_ratio{{{of}, pod="p", peer_gang="{peer}", source="measured"}}'] = "1.25x120"
        series[f"crossover_charged_gpu_seconds_total{{{of}}}"] = f"0+{per_minute}x120"
    alone = f'{more}node="n", gpu_uuid="GPU-2", namespace="red", gang="red/job"'
    series[f"crossover_charged_gpu_seconds_total{{{alone}}}"] = "0+60x120"
    return series


def _in_tenths(red, blue, more=""):
    return [(f'{{{more}namespace="red"}}', red), (f'{{{more}namespace="blue"}}', blue)]


class Chargeback(unittest.TestCase):
    def test_there_are_two_queries_of_metrics_that_there_are(self):
        queries = of_chargeback()
        self.assertEqual(len(queries), 2)
        self.assertGreaterEqual(len(of_metrics()), 6)
        for query in queries + of_metrics():
            self.assertEqual(unknown(query), [], query)
        for query in queries:
            self.assertEqual([labels for labels in groupings(query) if mixed(labels)], [], query)
        done = check_rules(recording(queries + of_metrics()))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_they_say_what_the_page_promises(self):
        """The answers are in tenths of an hour: 1.6 and 0.4 with sharing, which is two GPUs, and 1.8 and 0.8
        without."""
        with_sharing, without = (f"round(10 * ({query}))" for query in of_chargeback())
        done = evaluated(_series(), {with_sharing: _in_tenths(16, 4), without: _in_tenths(18, 8)}, "2h")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_query_that_counts_twice_is_found(self):
        """In the control `unless` is missing, so the time of jobs that share counts as well."""
        wrong = re.sub(r"unless on \([^)]*\) crossover_slowdown_ratio", "", of_chargeback()[1])
        self.assertNotEqual(wrong, of_chargeback()[1])
        done = evaluated(_series(), {f"round(10 * ({wrong}))": _in_tenths(18, 8)}, "2h")
        self.assertNotEqual(done.returncode, 0)

    def test_clusters_are_told_apart(self):
        """In the other cluster the first job has a GPU of the same name alone."""
        east, west = 'cluster="east", ', 'cluster="west", '
        series = _series(east)
        series[f'crossover_charged_gpu_seconds_total{{{west}node="n", gpu_uuid="GPU-1", namespace="red", '
               'gang="red/job"}'] = "0+60x120"
        with_sharing, without = (f"round(10 * ({query}))" for query in of_chargeback())
        in_the_west = _in_tenths(10, 0, west)[:1]
        cases = {with_sharing: _in_tenths(16, 4, east) + in_the_west, without: _in_tenths(18, 8, east) + in_the_west}
        done = evaluated(series, cases, "2h")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wrong = without.replace("unless on (cluster, ", "unless on (")
        self.assertNotEqual(evaluated(series, {wrong: cases[without]}, "2h").returncode, 0, "the control")

    def test_a_namespace_that_never_shared_is_charged_the_same(self):
        alone = {name: values for name, values in _series().items() if "GPU-2" in name}
        cases = {f"round(10 * ({query}))": [('{namespace="red"}', 10)] for query in of_chargeback()}
        done = evaluated(alone, cases, "2h")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
