"""Lists what users of comparable systems report and what we do about it: each case has the tests that show it, and
what shows that they would have failed before. Pure.

A finding has a number, as the list of reports numbers them.
"""

import re
from dataclasses import dataclass

from benchmarks.runner.older_daemon import DAEMON, EXTENDER

BEFORE = "a261eb0"  # the revision that the reports were tried on
CLUSTER, CHART, UNIT = "cluster", "chart", "program"

_OWNERS, _REBOOTS = "owners.test_owners_live:OwnersLive", "owners.test_owners_live:Reboots"
_ROOM, _OWNER, _MPS = "gangs.test_preemption:Preemption", "node.test_owner:Owner", "node.test_mps:Mps"
_VERSION_2 = "node.test_cgroup_v2:CgroupV2"
UNKNOWN_TO_BEFORE = ("webhook.shm",)  # keys of the tests' configuration
# The events that a job of each kind of owner lives through: tests of tests/cluster/owners/lives.py.
EVENTS = {
    "success": "test_the_rest_runs_on_when_some_pods_succeed",
    "suspension": "test_what_is_left_comes_back_when_it_is_suspended_and_resumed",
    "eviction": "test_a_pod_that_is_evicted_comes_back_beside_the_others",
    "drain": "test_pods_of_a_node_that_is_drained_come_back_elsewhere",
    "loss": "test_pods_of_a_node_that_is_lost_come_back_elsewhere",
    "reboot": "test_pods_of_a_node_that_reboots_come_back"}
# The extender before waits for pods that have succeeded, and places pods of an owner that it does not know together.
_WAITS, _TOGETHER = r"pods of resumed run: not within", "pods of one job are on one GPU"
_AWAY = "test_without_the_extender_a_pod_stays_away"  # for kinds with which nothing was wrong before
_APART = r"two pods of \w+ run"
_EVICTED = "test_as_the_example_was_an_eviction_ends_it"


@dataclass(frozen=True)
class Case:
    """A Case is a finding, or a part of one.

    place    CLUSTER: `group` is a module and a class of tests/cluster, and `tests` are methods of it, on a real API
             server. CHART: the same of tests/charts, on what the chart makes. UNIT: `group` is a program of unit tests,
             and `tests` are filters of it
    older    the program that is taken from BEFORE in the control. The same tests must fail with it. "": `was` instead
    was      tests of the same class that show what happens where things are done as before. They must pass. Without
             `older` and `was` the case has no control, and its line says so
    because  a regular expression: with `older` a test must fail in these words, so that it fails by the fault and by
             nothing else. "": any failure counts
    """

    finding: int
    name: str
    place: str
    group: str
    tests: tuple
    older: str = ""
    was: tuple = ()
    because: str = ""


def _live(finding, name, test, older=EXTENDER, was=(), group=_OWNERS, because=""):
    return Case(finding, name, CLUSTER, group, (f"test_{test}",), older, tuple(f"test_{each}" for each in was),
                because)


def _owner(name, group, because="", without=(), was=()):
    """Returns the case of a kind of owner. `without` names the events that the kind cannot have."""
    tests = tuple(test for event, test in EVENTS.items() if event not in without)
    return Case(5, f"owner_{name}", CLUSTER, group, tests, "" if was else EXTENDER, was, because)


def _chart(finding, name, group, test):
    """Returns a case of the chart. Its test has controls of its own: it fails where they are not found."""
    return Case(finding, name, CHART, group, (f"test_{test}",))


def _unit(finding, name, program, *tests):
    return Case(finding, name, UNIT, program, tests)


def _moved(name, test):
    """Returns a case of the Descheduler. Each of its tests has controls of its own, in which ranks are evicted."""
    return Case(7, name, CLUSTER, "gangs.test_descheduler:Deschedulers", (f"test_{test}",), EXTENDER)


_ALL = (
    _unit(1, "shm_under_mps", "admission_test", "RewriteTest.UnderMpsAVolumeAtShm*"),
    _live(2, "half_is_evicted", "half_a_gang_is_evicted_and_its_job_lives", because=r"half: bound are \('0', '1'\)"),
    _live(2, "budget", "a_budget_keeps_half_a_gang_until_it_is_whole", because="it is told why it stays"),
    _live(2, "drain", "a_job_survives_a_drain", "", ("a_job_fails_where_its_pod_is_deleted",)),
    _live(2, "reboot", "a_job_survives_that_its_node_reboots_and_the_daemon_comes_late", "",
          ("a_job_that_may_not_fail_ends_by_a_reboot",), _REBOOTS),
    _live(3, "stateful_set", "pods_of_a_stateful_set_are_on_gpus_of_their_own", because=_APART),
    _live(3, "deployment", "pods_of_a_deployment_are_on_gpus_of_their_own", because=_APART),
    _live(3, "job_without_index", "pods_of_a_job_without_an_index_are_on_gpus_of_their_own",
          because=_APART),
    _unit(4, "cluster_autoscaler", "cli_cluster_test", "ClusterChecksTest.EachPlantedFault*"),
    _live(5, "success_and_suspension", "what_is_left_comes_back_after_a_suspension",
          because="left: bound are"),
    _live(5, "success_forgotten", "what_is_left_comes_back_though_the_pods_that_succeeded_are_gone",
          because="gone: bound are"),
    _live(5, "more_completions", "a_job_with_more_completions_than_pods_runs_to_its_end",
          because="many: 5 have succeeded"),
    _live(5, "success_policy", "a_success_policy_is_met_by_what_is_left_and_frees_the_gpus",
          because="met: bound are"),
    _live(5, "failed_index", "an_index_that_failed_for_good_is_not_waited_for", because="indices: bound are"),
    _live(6, "apart", "pods_that_may_not_be_together", group="gangs.test_gangs:Gangs"),
    _moved("duplicates", "ranks_on_one_node_are_no_duplicates"),
    _moved("busy_node", "a_busy_node_keeps_its_ranks"),
    _moved("idle_node", "a_node_that_is_nearly_idle_keeps_its_ranks"),
    _moved("life_time", "a_gang_may_run_for_long"),
    _moved("container_restarts", "ranks_may_start_again_and_again"),
    _live(8, "dra_driver", "gpus_that_a_dra_driver_gives_out_are_withheld", DAEMON, group=_OWNER),
    _live(9, "gpu_operator", "the_labels_of_the_gpu_operator_are_set_again_where_that_is_asked_for", "",
          ("without_that_setting_the_gpu_operator_keeps_the_node",), _OWNER),
    _live(10, "no_cdi_names", "a_pod_gets_its_gpu_by_our_name", "", ("by_the_given_names_alone_no_pod_gets_its_gpu",),
          "node.test_cdi:OwnSpecification"),
    _live(11, "environment", "containers_have_their_gpus_device_alone_over_a_reload_and_a_resize", "",
          group=_VERSION_2),
    _live(12, "cgroup_v2", "a_process_is_known_by_the_path_that_systemd_gave_its_container", "",
          ("a_reader_of_version_1_finds_no_pod_there",), _VERSION_2),
    _live(13, "limit_range_bounds", "a_limit_range_that_bounds_gpus_is_refused_in_words", "",
          group="security.test_admission:Admission"),
    _live(13, "limit_range_defaults", "whole_gpus_that_a_limit_range_gives_become_no_second_kind", "",
          group="security.test_admission:Admission"),
    _live(14, "lowest_leaves", "the_lowest_leaves_comes_again_and_is_told", group=_ROOM),
    _live(14, "two_leave", "a_gang_of_two_takes_the_places_of_two", group=_ROOM),
    _live(14, "never_and_budget", "a_budget_and_never_keep_them", group=_ROOM),
    _live(15, "kueue_quota", "a_quota_of_the_gpus_alone_keeps_the_second_job_out", "",
          group="owners.test_recognition:KueueJobs"),
    _unit(16, "numa", "plugin_plugin_test", "PluginTest.ToldIsTheNumaNode*"),
    _live(17, "no_memory_told", "a_gpu_that_tells_no_memory_has_one_slot_until_a_setting_tells_it", DAEMON,
          group=_OWNER),
    _live(18, "mps_in_fault", "a_server_in_fault_gets_no_newcomers", DAEMON, group=_MPS),
    _live(18, "mps_hangs", "a_server_that_hangs_gets_no_newcomers", DAEMON, group=_MPS),
    _live(18, "mps_control_hangs", "a_control_daemon_that_hangs_gets_no_newcomers", DAEMON, group=_MPS),
    _live(19, "built_in_plugin", "gpus_that_another_plugin_gives_out_are_withheld", "", group=_OWNER),
    _chart(20, "openshift", "test_exceptions:Exceptions", "openshift_is_asked_for_exactly_these"),
    _chart(21, "dcgm", "test_monitoring:Monitoring", "what_dcgm_says_stands_beside_what_we_say"),
    _live(22, "elastic", "an_elastic_job_begins_with_its_minimum_and_grows",
          group="owners.test_recognition:PyTorchJobs"),
    _unit(22, "restored_etcd", "gang_test", "ElasticTest.AnOlderStateThatWasRestoredIsBelieved"),
    # Each kind of owner lives through success of some, suspension, eviction, drain, and the loss and reboot of a node.
    _owner("indexed_job", "owners.test_owner_events:IndexedJobs", _WAITS),
    _owner("job_without_index", "owners.test_owner_events:JobsWithoutIndex", _TOGETHER),
    _owner("stateful_set", "owners.test_owner_events:StatefulSets", _TOGETHER, ("success",)),
    _owner("deployment", "owners.test_owner_events:Deployments", _TOGETHER, ("success",)),
    _owner("bare_pods", "owners.test_owner_events:BarePods", was=(_AWAY,)),
    _owner("unknown", "owners.test_owner_events:UnknownOwners", _TOGETHER),
    _owner("jobset", "owners.test_operator_events:JobSets", was=(_EVICTED,)),
    _owner("leader_worker_set", "owners.test_operator_events:LeaderWorkerSets", without=("success", "suspension"),
           was=(_AWAY,)),
    _owner("mpijob", "owners.test_operator_events:MpiJobs", without=("reboot",),
           was=("test_a_worker_that_a_reboot_ended_stays_as_it_is",)),
    *(_owner(kind.lower(), f"owners.test_operator_events:{kind}s", was=(_EVICTED,))
      for kind in ("PyTorchJob", "XgBoostJob", "PaddleJob", "JaxJob")),
    _owner("tfjob", "owners.test_operator_events:TfJobs", without=set(EVENTS) - {"suspension"},
           was=(_EVICTED,)),
    _owner("kueue_pod_group", "owners.test_operator_events:KueuePodGroups", without=("suspension",), was=(_AWAY,)),
    _owner("raycluster", "owners.test_operator_events:RayClusters", without=("success",), was=(_AWAY,)),
)
CASES = {case.name: case for case in _ALL}


def is_by_the_fault(case, lines):
    """Returns whether one of these lines, each of a test that failed in a control, has the words of the fault."""
    return any(re.search(case.because, line) for line in lines)

