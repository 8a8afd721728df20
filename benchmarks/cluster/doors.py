"""doors counts the conditions of tests/cluster/security/test_ports.py and test_doors.py that do not hold. They state
what an ordinary pod, or the token of a node's daemon, must not be able to open.

Controls: metrics that everybody gets; a pod whose account may edit everything; GPUNodes that no policy guards.
"""

import os

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from tests.cluster.security import test_doors, test_ports

GOAL = Goal("==", 0)
SCOPE = "component"
_PORTS = ("test_each_port_that_is_open_is_stated", "test_the_scheduler_s_verbs_are_for_its_own_pod",
          "test_metrics_are_for_those_who_may_read_them", "test_the_scheduler_tells_nothing_but_its_health",
          "test_health_names_no_job", "test_the_webhook_answers_reviews_and_does_nothing",
          "test_what_is_mounted_into_a_pod_that_shares")
_VERBS = ("test_no_verb_of_the_api_server_is_open", "test_a_few_of_them_for_real")
_TOKEN = ("test_it_writes_its_own_gpu_node_and_no_other", "test_a_token_that_is_bound_to_no_node_writes_none",
          "test_nothing_else_is_open")


class _MetricsForEverybody(test_ports.Ports):
    VALUES = {"deviceplugin": {"config": {"node": {"metrics_readers": "everybody"}}}}


class _EditsEverything(test_ports.Ports):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.kubectl("create", "clusterrolebinding", "everything", "--clusterrole", "cluster-admin",
                            "--serviceaccount", "team:default")


class _WithoutPolicy(test_doors.Doors):
    @classmethod
    def await_policy(cls, in_force=True):
        cls.cluster.kubectl("delete", "validatingadmissionpolicybinding", "crossover-own-gpunode")
        super().await_policy(in_force=False)


# Each case has its conditions, its control in words, and the conditions that are checked under the control.
_CASES = {
    "ports_of_a_pod": ((test_ports.Ports, _PORTS), "the node daemon's metrics are for everybody",
                       (_MetricsForEverybody, ("test_metrics_are_for_those_who_may_read_them",))),
    "verbs_of_a_pod": ((test_ports.Ports, _VERBS), "its account may do everything", (_EditsEverything, _VERBS)),
    "token_of_a_daemon": ((test_doors.Doors, _TOKEN), "no policy guards GPUNodes",
                          (_WithoutPolicy, ("test_it_writes_its_own_gpu_node_and_no_other",)))}
CASES = tuple(_CASES)


def measure(context, case):
    os.environ["BUILD"] = str(context.build.top)
    (conditions, names), what, control = _CASES[case]
    found, seen = unmet(conditions, names), unmet(*control)
    context.say(f"    {found or 'nothing opened'}; {what}: {seen}")
    yield Measured("doors", case, len(found), f"conditions of {len(names)}", GOAL, (len(found),),
                   controlled(GOAL, what, len(seen)), "a release of the chart, or its permissions, on a real cluster",
                   {"found": found, "control_saw": seen, "conditions": list(names)})
