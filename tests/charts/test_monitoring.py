"""Tests alerts and dashboards: they are valid, their metrics exist, and alerts do what their names say."""

import itertools
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from testing.chart import CHART, MONITORING, TREE, find, metrics, objects, pod_templates, promtool
from tests.docs.pages import anchors

_ALERTS = CHART / "files/alerts.yaml"
_TESTS = TREE / "tests/charts/alerts_test.yaml"
# Each variable takes all of its values.
_GRAFANAS = {"$__rate_interval": "5m", "$__range": "1h",
             **dict.fromkeys(("$cluster", "$node", "$gpu", "$namespace", "$gang"), ".*")}
# A word of a query that is no function, label or number begins like this.
_METRIC = re.compile(r"\b(crossover_[a-z0-9_]+)\b")
_OF_THE_CLUSTER = 'cluster=~"$cluster"'
_GROUPING = re.compile(r"\b(?:by|on|group_left) \(([^)]*)\)")
# This finds what selects series, once groupings and ranges are removed: a name that is no function's, braces, or both.
_SELECTOR = re.compile(r"\b[a-z]\w*\b(?!\s*\()(?:\{[^}]*\})?|\{[^}]*\}")
_OPERATORS = {"and", "or", "unless", "bool"}
_NAMES = {"node", "namespace", "gang", "pod"}  # these come again in another cluster


def dashboards():
    return {file.name: json.loads(file.read_text(encoding="utf-8"))
            for file in sorted((CHART / "files/dashboards").glob("*.json"))}


def targets(dashboard):
    """Returns (title of a panel, its query target) of each query."""
    return [(panel["title"], target) for panel in dashboard["panels"] for target in panel["targets"]]


def queries(dashboard):
    """Yields (title of a panel, query) with the variables filled in, as Prometheus would get it."""
    for title, target in targets(dashboard):
        query = target["expr"]
        for name, value in _GRAFANAS.items():
            query = query.replace(name, value)
        yield title, query


def unknown(query):
    """Returns our metrics in a query that no program has. Those of a histogram have endings."""
    known = metrics()
    return [name for name in _METRIC.findall(query)
            if name not in known and re.sub("_(bucket|sum|count)$", "", name) not in known]


def of_any_cluster(query):
    """Returns what selects series in a query without regard to the chosen cluster."""
    bare = re.sub(r"\[[^]]*\]", "", _GROUPING.sub("", query))
    bare = re.sub(r', "[^"]*"', "", bare)  # words that a function takes
    return [found for found in _SELECTOR.findall(bare) if found not in _OPERATORS and _OF_THE_CLUSTER not in found]


def mixed(labels):
    """Tells whether these labels mix things of one name that belong to several clusters or namespaces."""
    return bool((labels & {*_NAMES, "gpu_uuid"} and "cluster" not in labels)
                or ("pod" in labels and "namespace" not in labels))


def groupings(query):
    """Returns the labels of each `by` and `on` of a query."""
    return [set(re.split(r",\s*", found[1])) for found in _GROUPING.finditer(query)
            if not found[0].startswith("group_left")]


def check_rules(rules):
    """Runs promtool on a file of rules and returns the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.yaml"
        file.write_text(json.dumps(rules), encoding="utf-8")
        return subprocess.run([promtool(), "check", "rules", str(file)], capture_output=True, text=True, check=False)


def query_of(dashboard, title, number=0):
    return [query for panel, query in queries(dashboards()[dashboard]) if panel == title][number]


def evaluated(series, cases, after="1h"):
    """Runs promtool on `cases`, {expression: [(labels, value)]}, at the time `after` of these series. Returns the
    finished process."""
    checks = [{"expr": text, "eval_time": after,
               "exp_samples": [{"labels": labels, "value": value} for labels, value in samples]}
              for text, samples in cases.items()]
    case = {"interval": "1m", "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": checks}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tests.yaml"
        file.write_text(json.dumps({"rule_files": [], "tests": [case]}), encoding="utf-8")
        return subprocess.run([promtool(), "test", "rules", str(file)], capture_output=True, text=True, check=False)


def recording(expressions):
    return {"groups": [{"name": "queries", "rules": [
        {"record": f"query:{number}", "expr": text} for number, text in enumerate(expressions)]}]}


class Monitoring(unittest.TestCase):
    def test_alerts_are_valid_and_fire_when_they_should(self):
        for words in (["check", "rules", str(_ALERTS)], ["test", "rules", str(_TESTS)]):
            done = subprocess.run([promtool(), *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_an_alert_that_is_wrong_is_found(self):
        """In the control a threshold is changed, or a part of an expression is missing. The alerts' tests must fail."""
        text = _ALERTS.read_text(encoding="utf-8")
        for right, wrong, alert in (
                ("crossover_config_valid == 0", "crossover_config_valid == 1", "CrossoverConfigurationNotValid"),
                ('=~"crossover-(deviceplugin|mps)"', '="crossover-deviceplugin"', "CrossoverNodesWithoutDaemon"),
                ("max_over_time(crossover_mps_alive[1d]) == 1 unless", "crossover_mps_alive == 1 unless",
                 "CrossoverMpsGone"),
                ("1 unless on (cluster, node) crossover_maintenance == 1", "1", "CrossoverMpsGone"),
                ("accepts_clients == 0 and crossover_mps_alive == 1", "accepts_clients == 0",
                 "CrossoverMpsTakesNoClients"),
                (" and on (cluster, node) crossover_gpu_healthy\n", "\n", "CrossoverMpsTakesNoClients"),
                ("\n          unless on (cluster, node) (crossover_maintenance == 1)", "",
                 "CrossoverMpsTakesNoClients"),
                ("shm_free_bytes < 0.1 *", "shm_free_bytes < 0.2 *", "CrossoverMpsShmFull"),
                (" unless on (cluster, node) crossover_gpu_healthy", "", "CrossoverNodeWithoutGpus"),
                ("\n          unless on (cluster, node) crossover_maintenance == 1", "", "CrossoverNodeWithoutGpus"),
                ("on (cluster, node) (\n", "on (cluster, node, pod) (\n", "CrossoverMpsGone"),
                ("sum by (cluster) (crossover_extender_leading) > 1", "sum(crossover_extender_leading) > 1",
                 "CrossoverTwoLead"),
                ("count by (cluster) (count by (cluster, version)", "count(count by (version)",
                 "CrossoverUpgradeStandsStill"),
                ("sum by (cluster) (crossover_extender_leading) == 0", "sum(crossover_extender_leading) == 0",
                 "CrossoverNobodyLeads"),
                ("group by (cluster) (crossover_kubelet_registered) unless on (cluster) crossover_extender_leading or",
                 "", "CrossoverNobodyLeads"),
                ("== 0 and on (cluster, node) crossover_maintenance", "== 0 and on (node) crossover_maintenance",
                 "CrossoverGpuWithheld"),
                ('up{job="crossover-extender"} == 0', 'up{job="crossover-extender"} == 1', "CrossoverExtenderDown"),
                ("expiry_timestamp_seconds > 0", "expiry_timestamp_seconds >= 0", "CrossoverCertificateExpires"),
                ("time() < 7 * 24", "time() < 700 * 24", "CrossoverCertificateExpires"),
                ("seconds) > 3600 and on (cluster) count by (cluster) (", "seconds) > 3600 and on () count(",
                 "CrossoverGangsWait"),
                ("crossover_slots_used == 0 and on", "crossover_slots_used >= 0 and on", "CrossoverGangsWait"),
                (" and on (cluster, node, gpu_uuid) crossover_gpu_healthy == 1", "", "CrossoverGangsWait"),
                ('name="pods.crossover.dev", ', "", "CrossoverWebhookNotReached"),
                ('error_type="calling_webhook_error"', "", "CrossoverWebhookNotReached")):
            self.assertEqual(text.count(right), 1, right)
            self.assertIn(alert, self.failure_with(text.replace(right, wrong)), wrong)
        self.assertEqual(self.failure_with(text), "", "of ours as they are")

    def failure_with(self, alerts):
        """Returns what promtool says of other alerts than ours, or "" where it finds nothing wrong."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "alerts.yaml").write_text(alerts, encoding="utf-8")
            tests = yaml.load(_TESTS.read_text(encoding="utf-8"), yaml.BaseLoader)  # 0x60 is no number there
            for group in tests["tests"]:  # only the first hour, because days take long to evaluate
                group["alert_rule_test"] = [case for case in group["alert_rule_test"] if "h" not in case["eval_time"]]
            file = Path(folder) / "tests.yaml"
            file.write_text(json.dumps(tests | {"rule_files": ["alerts.yaml"]}), encoding="utf-8")
            done = subprocess.run([promtool(), "test", "rules", str(file)], capture_output=True, text=True, check=False)
            return done.stdout + done.stderr if done.returncode != 0 else ""

    def test_the_webhook_is_named_as_api_servers_know_it(self):
        """An alert asks for that name, and its file is not made by a template."""
        webhook = find(objects(), "MutatingWebhookConfiguration", "crossover-admission")["webhooks"][0]["name"]
        self.assertIn(f'name="{webhook}"', _ALERTS.read_text(encoding="utf-8"))

    def test_each_alert_has_a_test_a_runbook_and_metrics(self):
        tested = {case["alertname"] for group in yaml.safe_load(_TESTS.read_text(encoding="utf-8"))["tests"]
                  for case in group["alert_rule_test"] if case["exp_alerts"]}
        rules = yaml.safe_load(_ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
        self.assertEqual({rule["alert"] for rule in rules}, tested)
        for rule in rules:
            self.assertEqual(set(rule["annotations"]), {"summary", "runbook"}, rule["alert"])
            self.assertEqual(unknown(rule["expr"]), [], rule["alert"])

    def test_queries_of_dashboards_are_valid(self):
        expressions = [query for dashboard in dashboards().values() for _, query in queries(dashboard)]
        self.assertGreater(len(expressions), 20)
        done = check_rules(recording(expressions))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotEqual(check_rules(recording(["sum(rate(x))"])).returncode, 0, "the control")

    def test_queries_of_dashboards_are_of_metrics_that_there_are(self):
        for name, dashboard in dashboards().items():
            for title, query in queries(dashboard):
                self.assertEqual(unknown(query), [], f"{name}: {title}")
                self.assertNotIn("$", query.replace('"$1"', ""), f"{name}: {title}")  # label_replace has $1
            for variable in dashboard["templating"]["list"]:
                if variable["type"] == "query":
                    self.assertEqual(unknown(variable["query"]["query"]), [], name)
        self.assertEqual(unknown("rate(crossover_turn_total[5m])"), ["crossover_turn_total"], "the control")

    def test_dashboards_are_what_grafana_takes(self):
        uids = [dashboard["uid"] for dashboard in dashboards().values()]
        self.assertEqual(len(uids), len(set(uids)))
        for name, dashboard in dashboards().items():
            self.assertEqual({panel["datasource"]["uid"] for panel in dashboard["panels"]}, {"${datasource}"}, name)
            places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in dashboard["panels"]]
            self.assertEqual(len(places), len(set(places)), name)
            self.assertLessEqual(max(p["gridPos"]["x"] + p["gridPos"]["w"] for p in dashboard["panels"]), 24)

    def test_dashboards_are_of_the_clusters_that_are_chosen(self):
        for name, dashboard in dashboards().items():
            variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
            cluster = variables.pop("cluster")
            self.assertEqual((cluster["includeAll"], cluster["multi"], cluster["allValue"], cluster["current"]),
                             (True, True, ".*", {}), "all, at first: those without the label, too")
            for variable in variables.values():
                if variable["type"] == "query":
                    series = re.fullmatch(r"label_values\((.*), \w+\)", variable["query"]["query"])[1]
                    self.assertEqual(of_any_cluster(series), [], name)
            for title, target in targets(dashboard):
                self.assertEqual(of_any_cluster(target["expr"]), [], f"{name}: {title}")
                self.assertEqual([found for found in groupings(target["expr"]) if mixed(found)], [], f"{name}: {title}")
                shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
                self.assertFalse(mixed(shown - {"gpu_uuid"}), f"{name}: {title}: {target['legendFormat']}")

    def test_one_that_is_not_is_found(self):
        """This is the control."""
        query = ('sum by (le, cluster, pod) (rate(a_sum{cluster=~"$cluster", node="n"}[$__range])) > 0 '
                 'and on (node) group_left (x) b unless {x="y"} or vector(0)')
        self.assertEqual(of_any_cluster(query), ["b", '{x="y"}'])
        self.assertEqual([mixed(found) for found in groupings(query)], [True, True])
        self.assertEqual([mixed(found) for found in groupings("max by (cluster, namespace, pod) (sum by (le) (a))")],
                         [False, False])

    def test_clusters_are_told_apart(self):
        """Two clusters are alike except in what they gain. One of them may be chosen."""
        series = {}
        for cluster, gain in (("east", 1.5), ("west", 1.25)):
            on = f'cluster="{cluster}", node="n", gpu_uuid="GPU-1"'
            of = f'{on}, namespace="team", pod="a-0", gang="a"'
            series[f'crossover_gpu_busy_ratio{{{on}}}'] = "0.75x60"
            series[f'crossover_gain_ratio{{{of}, peer_gang="b", source="measured"}}'] = f"{gain}x60"
            series[f'crossover_step_shared_seconds{{{of}, peer_gang="b"}}'] = "0.04x60"
            series[f'crossover_turn_wait_seconds_sum{{{of}}}'] = "0+12x60"
            for pod, leads in (("x", 1), ("y", 0)):
                series[f'crossover_extender_leading{{cluster="{cluster}", pod="{pod}"}}'] = f"{leads}x60"
            series[f'crossover_extender_reservations{{cluster="{cluster}", pod="x"}}'] = "8x60"

        def each(value, labels=""):
            return [(f'{{cluster="{cluster}"{labels}}}', value) for cluster in ("east", "west")]

        gained = query_of("fleet.json", "GPUs' worth of work gained")
        cases = {query_of("control-plane.json", "Leads"): each(1),
                 query_of("control-plane.json", "Places that are kept"): each(8),
                 query_of("fleet.json", "Utilisation, before and after"): [("{}", 0.55)],
                 query_of("gpu.json", "Who waits for whom"): each(0.2, ', namespace="team", gang="a", peer_gang="b"'),
                 query_of("job.json", "Waits, by pod"): each(0.2, ', namespace="team", pod="a-0"'),
                 gained: [("{}", 0.75)], gained.replace('cluster=~".*"', 'cluster=~"east"'): [("{}", 0.5)]}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_queries_say_what_their_panels_promise(self):
        """Two jobs share a GPU for an hour, and it computes for three quarters of that. Another GPU has one job."""
        on = 'node="n", gpu_uuid="GPU-1", namespace="team"'
        series = {'crossover_gpu_busy_ratio{node="n", gpu_uuid="GPU-1"}': "0.75x60",
                  'crossover_gpu_busy_ratio{node="n", gpu_uuid="GPU-2"}': "0.625x60"}
        for gang, peer in (("a", "b"), ("b", "a")):
            of = f'{on}, pod="{gang}-0", gang="{gang}"'
            series[f'crossover_gain_ratio{{{of}, peer_gang="{peer}", source="measured"}}'] = "_ 1.5x59"
            series[f'crossover_step_shared_seconds{{{of}, peer_gang="{peer}"}}'] = "0.04x60"
            series[f'crossover_turn_wait_seconds_sum{{{of}}}'] = "0+12x60"  # a fifth of the time
        waits = [(f'{{namespace="team", gang="{gang}", peer_gang="{peer}"}}', 0.2) for gang, peer in ("ab", "ba")]
        cases = {query_of("fleet.json", "Work per time, mean"): [("{}", 1.5)],
                 query_of("fleet.json", "GPUs' worth of work gained"): [("{}", 0.5)],
                 query_of("fleet.json", "GPU hours gained"): [("{}", 0.5)],
                 query_of("fleet.json", "Utilisation, before and after"): [("{}", 0.5)],
                 query_of("fleet.json", "Utilisation, before and after", 1): [("{}", 0.75)],
                 query_of("gpu.json", "Who waits for whom"): waits}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wrong = evaluated(series, {query_of("fleet.json", "GPUs' worth of work gained"): [("{}", 1)]})
        self.assertNotEqual(wrong.returncode, 0, "the control: each GPU counts once, not each of its jobs")

    def test_what_dcgm_says_stands_beside_what_we_say(self):
        """One GPU is ours, and jobs gain by sharing it. dcgm-exporter has series for each pod of it, and for a GPU of
        another plugin."""
        series = {'crossover_slots{node="n", gpu_uuid="GPU-1"}': "2x60",
                  'crossover_gpu_busy_ratio{node="n", gpu_uuid="GPU-1"}': "0.75x60",
                  'crossover_gain_ratio{node="n", gpu_uuid="GPU-1", namespace="team", pod="a-0", gang="a"}': "1.5x60"}
        for gpu, pod in (("GPU-1", "a-0"), ("GPU-1", "b-0"), ("GPU-2", "c-0")):
            of = f'UUID="{gpu}", exported_pod="{pod}", instance="n"'
            series[f'DCGM_FI_DEV_GPU_UTIL{{{of}}}'] = "90x60"
            series[f'DCGM_FI_DEV_POWER_USAGE{{{of}}}'] = "600x60"
        ours = '{gpu_uuid="GPU-1"}'
        cases = {query_of("gpu.json", "Utilisation, by DCGM"): [(ours, 0.9)],
                 query_of("gpu.json", "Utilisation, by DCGM", 1): [(ours, 0.75)],
                 query_of("gpu.json", "Power for the work of one job"): [(ours, 400)],
                 query_of("gpu.json", "Power for the work of one job", 1): [(ours, 600)]}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        without = {name: values for name, values in series.items() if not name.startswith("DCGM")}
        self.assertNotEqual(evaluated(without, cases).returncode, 0, "the control: without dcgm-exporter")

    def test_parts_of_the_time_are_means_over_gpus(self):
        """Pods have the same name in two namespaces, and eight GPUs each. On all of these a pod waits for a fifth or a
        tenth of the time, and has its turn for as long. For a tenth of the time no pod has the turn though one waits.
        """
        series, parts = {}, {"team": 0.2, "other": 0.1}
        for space, gpu in itertools.product(parts, range(8)):
            on = f'node="n", gpu_uuid="GPU-{space}-{gpu}"'
            of = f'{on}, namespace="{space}", pod="a-0", gang="{space}/a"'
            for does in ("wait", "hold"):
                series[f'crossover_turn_{does}_seconds_sum{{{of}}}'] = f"0+{parts[space] * 60:g}x60"
            series[f'crossover_step_shared_seconds{{{of}, peer_gang="b"}}'] = "0.04x60"
            series[f'crossover_turn_rest_while_ready_seconds_total{{{on}}}'] = "0+6x60"

        def each(labels):
            return [("{" + labels.replace("SPACE", space) + "}", part) for space, part in parts.items()]

        promised = {("gpu.json", "Who waits for whom"): each('namespace="SPACE", gang="SPACE/a", peer_gang="b"'),
                    ("gpu.json", "Holds"): each('namespace="SPACE", gang="SPACE/a"'),
                    ("job.json", "Waits, by pod"): each('namespace="SPACE", pod="a-0"'),
                    ("job.json", "Holds, by pod"): each('namespace="SPACE", pod="a-0"'),
                    ("fleet.json", "Rested while a client waited"): [('{node="n"}', 0.1)]}
        cases = {f"round({query_of(*panel)}, 0.001)": samples for panel, samples in promised.items()}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wrong = {query.replace("avg by", "sum by"): samples for query, samples in cases.items()}
        said = evaluated(series, wrong).stderr
        self.assertEqual(said.count("expr: "), len(cases), "the control: eight times as much")

    def test_a_daemon_that_was_replaced_breaks_no_query(self):
        """For a moment both of the daemon's pods have series, and the first still says which jobs shared before."""
        series = {}
        for daemon, peer in (("old", "b"), ("new", "c")):
            on = f'node="n", gpu_uuid="GPU-1", instance="{daemon}"'
            of = f'{on}, namespace="team", pod="a-0", gang="a"'
            series[f'crossover_gpu_busy_ratio{{{on}, pod="{daemon}"}}'] = "0.75x60"
            series[f'crossover_gain_ratio{{{of}, peer_gang="{peer}", source="measured"}}'] = "1.5x60"
            series[f'crossover_step_shared_seconds{{{of}, peer_gang="{peer}"}}'] = "0.04x60"
            series[f'crossover_turn_wait_seconds_sum{{{of}}}'] = "0+12x60"
        waits = query_of("gpu.json", "Who waits for whom")
        cases = {query_of("fleet.json", "Utilisation, before and after"): [("{}", 0.5)],
                 query_of("gpu.json", "Utilisation", 1): [('{node="n", gpu_uuid="GPU-1"}', 0.5)],
                 f"sum({waits})": [("{}", 0.2)]}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wrong = re.sub(r"topk by \([^)]*\) \(1, (.*?)\)\)", r"(\1))", waits)
        self.assertNotEqual(wrong, waits)
        self.assertIn("duplicate series", evaluated(series, {wrong: []}).stderr, "the control")

    def test_queries_of_gangs_and_slots_say_what_their_panels_promise(self):
        """One of two extenders leads, and the other has no certificate yet. One of the two GPUs without a pod is
        healthy."""
        series = {'crossover_extender_certificate_expiry_timestamp_seconds{pod="a"}': "90000x60",
                  'crossover_extender_certificate_expiry_timestamp_seconds{pod="b"}': "0x60",
                  'crossover_extender_gangs{pod="a", state="waiting"}': "3x60",
                  'crossover_extender_waiting_gangs{pod="a", reason="no_place"}': "3x60",
                  'crossover_extender_oldest_wait_seconds{pod="a"}': "0+60x60",
                  'crossover_extender_reservations{pod="a"}': "8x60"}
        for number, (slots, used, healthy) in enumerate(((2, 2, 1), (2, 1, 1), (2, 0, 1), (2, 0, 0))):
            for name, value in (("slots", slots), ("slots_used", used), ("gpu_healthy", healthy)):
                series[f'crossover_{name}{{node="n", gpu_uuid="GPU-{number}"}}'] = f"{value}x60"
        control, fleet = "control-plane.json", "fleet.json"
        cases = {query_of(control, "The webhook's certificate holds for"): [("{}", 86400)],
                 query_of(control, "Gangs, by state"): [('{state="waiting"}', 3)],
                 query_of(control, "Gangs that wait, by reason"): [('{reason="no_place"}', 3)],
                 query_of(control, "Longest wait"): [("{}", 3600)],
                 query_of(control, "Places that are kept"): [("{}", 8)],
                 query_of(fleet, "Slots that pods have"): [("{}", 3)],
                 query_of(fleet, "Slots that pods have", 1): [("{}", 8)],
                 query_of(fleet, "GPUs without a pod"): [("{}", 1)]}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        everybody = query_of(control, "The webhook's certificate holds for").replace("> 0", ">= 0")
        self.assertNotEqual(evaluated(series, {everybody: [("{}", 86400)]}).returncode, 0, "the control")

    def test_queries_of_schedulers_are_of_ours_that_leads(self):
        """A scheduler that does not lead has all pods in `active`, because it tries none. The cluster's own scheduler
        does not count."""
        series = {}
        for instance, job, leads, active, unschedulable in (
                ("a", "crossover-scheduler", 1, 1, 2), ("b", "crossover-scheduler", 0, 3, 0),
                ("c", "kube-scheduler", 1, 5, 5)):
            of = f'instance="{instance}", job="{job}"'
            series[f'leader_election_master_status{{{of}, name="kube-scheduler"}}'] = f"{leads}x60"
            for queue, pods in (("active", active), ("unschedulable", unschedulable)):
                series[f'scheduler_pending_pods{{{of}, queue="{queue}"}}'] = f"{pods}x60"
            took = 'scheduler_scheduling_attempt_duration_seconds_bucket'
            for le, count in (("0.001", 0), ("0.1", 100 * leads), ("+Inf", 100 * leads)):
                for profile in ("crossover-scheduler", "default-scheduler"):
                    series[f'{took}{{{of}, profile="{profile}", result="scheduled", le="{le}"}}'] = f"0+{count}x60"
        waiting = query_of("control-plane.json", "Pods before the scheduler, by queue")
        attempts = query_of("control-plane.json", "Attempts of the scheduler, p99")
        cases = {waiting: [('{queue="active"}', 1), ('{queue="unschedulable"}', 2)],
                 f"round({attempts}, 0.001)": [('{result="scheduled"}', 0.099)]}
        done = evaluated(series, cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        every = re.sub(r" and on .* == 1", "", waiting)
        self.assertNotEqual(evaluated(series, {every: cases[waiting]}).returncode, 0, "the control")

    def test_they_are_installed_as_they_are(self):
        items = objects(*MONITORING, "monitoring.rules.labels.release=kps")
        rule = find(items, "PrometheusRule", "crossover")
        self.assertEqual(rule["spec"], yaml.safe_load(_ALERTS.read_text(encoding="utf-8")))
        self.assertEqual(rule["metadata"]["labels"]["release"], "kps")
        for name, dashboard in dashboards().items():
            made = find(items, "ConfigMap", f"crossover-dashboard-{name.removesuffix('.json')}")
            self.assertEqual(json.loads(made["data"][name]), dashboard)
            self.assertEqual(made["metadata"]["labels"]["grafana_dashboard"], "1")

    def test_runbooks_are_linked_where_it_is_said_where_they_are(self):
        page = "https://git.example/crossover/docs/operations.md"
        linked = objects(*MONITORING, f"monitoring.rules.runbookUrl={page}")
        rules = find(linked, "PrometheusRule", "crossover")["spec"]["groups"][0]["rules"]
        headings = anchors((TREE / "docs/operations.md").read_text(encoding="utf-8"))
        for rule in rules:
            begins, _, heading = rule["annotations"].pop("runbook_url").partition("#")
            self.assertEqual(begins, page)
            self.assertIn(heading, headings)
            self.assertIn(f"docs/operations.md#{heading}", rule["annotations"]["runbook"])
        self.assertEqual(rules, yaml.safe_load(_ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"])

    def test_labels_of_metrics_are_honoured(self):
        items = objects(*MONITORING)
        found = {}
        for monitor in (item for item in items if item["kind"] == "PodMonitor"):
            pod = pod_templates(items)[monitor["metadata"]["name"]]
            ports = {port["name"] for container in pod["containers"] for port in container.get("ports", ())}
            for endpoint in monitor["spec"]["podMetricsEndpoints"]:
                self.assertTrue(endpoint["honorLabels"])
                self.assertIn(endpoint["port"], ports)
                found.update({rule["replacement"]: (endpoint["port"], endpoint.get("scheme", "http"))
                              for rule in endpoint["relabelings"] if rule["targetLabel"] == "job"})
        self.assertEqual(found, {
            "crossover-deviceplugin": ("metrics", "http"), "crossover-extender": ("metrics", "http"),
            "crossover-scheduler": ("scheduler", "https")}, "alerts and dashboards ask for these jobs")


if __name__ == "__main__":
    unittest.main()
