"""Asks a Prometheus what Grafana asks it for the panels of the dashboards, with values chosen for their variables."""

import re

from tests.charts.test_monitoring import dashboards

_OFFERED = re.compile(r"label_values\((?P<series>.*), (?P<label>\w+)\)")
_GRAFANAS = {"__rate_interval": "5m", "__range": "1h"}
# These panels may be empty where two jobs take turns and nothing is wrong. The value is the reason.
MAY_BE_EMPTY = {
    ("fleet.json", "GPU hours gained"): "it looks once a minute: test_prometheus.py waits for it",
    ("gpu.json", "Errors of the GPU"): "there are none",
    ("gpu.json", "Utilisation, by DCGM"): "no dcgm-exporter runs here: tests/charts/test_monitoring.py has its series",
    ("gpu.json", "Power for the work of one job"): "the same",
    ("job.json", "Takes no turns"): "both do",
    ("job.json", "Cap that cannot be kept"): "neither has one"}


def panels():
    return {(name, panel["title"]) for name, dashboard in dashboards().items() for panel in dashboard["panels"]}


def empty(prometheus, since, only=None, **chosen):
    """Returns the panels of which a query had no result at any moment since then. `chosen` is {variable: values}; a
    variable that is not in it takes all values on offer. `only` limits this to one dashboard."""
    found = set()
    for name, dashboard in dashboards().items():
        if only in (None, name):
            values = _values(prometheus, dashboard, since, chosen)
            found |= {(name, panel["title"]) for panel in dashboard["panels"] for target in panel.get("targets", ())
                      if not prometheus.ever(filled(target["expr"], values), since)}
    return found


def filled(query, values):
    """Fills in the variables of a query. Raises KeyError for one that does not exist. A variable without values matches
    series that lack its label, as `cluster` does where there is only one cluster. $1 is none: label_replace has it."""
    return re.sub(r"\$([A-Za-z_]\w*)",
                  lambda found: _GRAFANAS.get(found[1]) or f"({'|'.join(values[found[1]])})", query)


def _values(prometheus, dashboard, since, chosen):
    """Looks up the variables in their order: the later ones name the earlier."""
    values = {}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            offered = _OFFERED.fullmatch(variable["query"]["query"])
            series = filled(offered["series"], values)
            values[variable["name"]] = chosen.get(variable["name"]) or prometheus.values_of(
                offered["label"], series, since)
    return values
