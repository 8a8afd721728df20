"""Lists what users of comparable systems report and what we do about it: each case has the tests that show it, and
what shows that they would have failed before. Pure.

A finding has a number, as the list of reports numbers them. ELSEWHERE says which have no case, and why.
"""

from dataclasses import dataclass

from benchmarks.older_daemon import DAEMON, EXTENDER

BEFORE = "a261eb0"  # the revision that the reports were tried on
CLUSTER, UNIT = "cluster", "program"

_OWNERS, _REBOOTS = "test_owners_live:OwnersLive", "test_owners_live:Reboots"
_ROOM, _OWNER, _MPS = "test_preemption:Preemption", "test_owner:Owner", "test_mps:Mps"
_KINDS = ("PyTorchJob0", "TFJob1", "XGBoostJob2", "PaddleJob3", "JAXJob4", "MPIJob5", "MPIJob6", "Job7", "Job8",
          "JobSet9", "LeaderWorkerSet10", "Kueuespodgroup11", "agangbyannotation12")


@dataclass(frozen=True)
class Case:
    """A Case is a finding, or a part of one.

    place    CLUSTER: `group` is a module and a class of tests/cluster, and `tests` are methods of it, on a real API
             server. UNIT: `group` is a program of unit tests, and `tests` are filters of it
    older    the program that is taken from BEFORE in the control. The same tests must fail with it. "": `was` instead
    was      tests of the same class that show what happens where things are done as before. They must pass. Without
             `older` and `was` the case has no control, and its line says so
    """

    finding: int
    name: str
    place: str
    group: str
    tests: tuple
    older: str = ""
    was: tuple = ()


def _live(finding, name, test, older=EXTENDER, was=(), group=_OWNERS):
    return Case(finding, name, CLUSTER, group, (f"test_{test}",), older, tuple(f"test_{each}" for each in was))


def _unit(finding, name, program, *tests):
    return Case(finding, name, UNIT, program, tests)


def _moved(name, test):
    """Returns a case of the Descheduler. Each of its tests has controls of its own, in which ranks are evicted."""
    return Case(7, name, CLUSTER, "test_descheduler:Deschedulers", (f"test_{test}",), EXTENDER)


_ALL = (
    _unit(1, "shm_under_mps", "admission_test", "RewriteTest.UnderMpsAVolumeAtShm*"),
    _live(2, "half_is_evicted", "half_a_gang_is_evicted_and_its_job_lives"),
    _live(2, "budget", "a_budget_keeps_half_a_gang_until_it_is_whole"),
    _live(2, "drain", "a_job_survives_a_drain", "", ("a_job_fails_where_its_pod_is_deleted",)),
    _live(2, "reboot", "a_job_survives_that_its_node_reboots_and_the_daemon_comes_late", "",
          ("a_job_that_may_not_fail_ends_by_a_reboot",), _REBOOTS),
    _live(3, "stateful_set", "pods_of_a_stateful_set_are_on_gpus_of_their_own"),
    _live(3, "deployment", "pods_of_a_deployment_are_on_gpus_of_their_own"),
    _live(3, "job_without_index", "pods_of_a_job_without_an_index_are_on_gpus_of_their_own"),
    _unit(4, "cluster_autoscaler", "cli_cluster_test", "ClusterChecksTest.EachPlantedFault*"),
    _live(5, "success_and_suspension", "what_is_left_comes_back_after_a_suspension"),
    _live(5, "success_forgotten", "what_is_left_comes_back_though_the_pods_that_succeeded_are_gone"),
    _live(5, "more_completions", "a_job_with_more_completions_than_pods_runs_to_its_end"),
    _live(5, "failed_index", "an_index_that_failed_for_good_is_not_waited_for"),
    _live(6, "apart", "pods_that_may_not_be_together", group="test_gangs:Gangs"),
    _moved("duplicates", "ranks_on_one_node_are_no_duplicates"),
    _moved("busy_node", "a_busy_node_keeps_its_ranks"),
    _moved("idle_node", "a_node_that_is_nearly_idle_keeps_its_ranks"),
    _moved("life_time", "a_gang_may_run_for_long"),
    _moved("container_restarts", "ranks_may_start_again_and_again"),
    _live(8, "dra_driver", "gpus_that_a_dra_driver_gives_out_are_withheld", DAEMON, group=_OWNER),
    _live(9, "gpu_operator", "the_labels_of_the_gpu_operator_are_set_again_where_that_is_asked_for", DAEMON,
          group=_OWNER),
    _live(10, "no_cdi_names", "a_pod_gets_its_gpu_by_our_name", DAEMON, group="test_cdi:OwnSpecification"),
    _live(13, "limit_range_bounds", "a_limit_range_that_bounds_gpus_is_refused_in_words", "",
          group="test_admission:Admission"),
    _live(13, "limit_range_defaults", "whole_gpus_that_a_limit_range_gives_become_no_second_kind", "",
          group="test_admission:Admission"),
    _live(14, "lowest_leaves", "the_lowest_leaves_comes_again_and_is_told", group=_ROOM),
    _live(14, "two_leave", "a_gang_of_two_takes_the_places_of_two", group=_ROOM),
    _live(14, "never_and_budget", "a_budget_and_never_keep_them", group=_ROOM),
    _live(15, "kueue_quota", "a_quota_of_the_gpus_alone_keeps_the_second_job_out", "",
          group="test_recognition:KueueJobs"),
    _unit(16, "numa", "plugin_plugin_test", "PluginTest.ToldIsTheNumaNode*"),
    _live(17, "no_memory_told", "a_gpu_that_tells_no_memory_has_one_slot_until_a_setting_tells_it", DAEMON,
          group=_OWNER),
    _live(18, "mps_in_fault", "a_server_in_fault_gets_no_newcomers", DAEMON, group=_MPS),
    _live(18, "mps_hangs", "a_server_that_hangs_gets_no_newcomers", DAEMON, group=_MPS),
    _live(18, "mps_control_hangs", "a_control_daemon_that_hangs_gets_no_newcomers", DAEMON, group=_MPS),
    _live(22, "elastic", "an_elastic_job_begins_with_its_minimum_and_grows", group="test_recognition:PyTorchJobs"),
    _unit(22, "restored_etcd", "gang_test", "ElasticTest.AnOlderStateThatWasRestoredIsBelieved"),
    # Each kind of owner lives through success of some, suspension, eviction, drain and the loss of a node.
    *(_unit(5, f"owner_{kind}", "gang_test", f"EachKind/OwnerLives.*/{kind}") for kind in _KINDS),
)
CASES = {case.name: case for case in _ALL}

ELSEWHERE = {
    11: "the figure cgroup_v2 is of it",
    12: "the figure cgroup_v2 is of it",
    19: "the settings of those node images are on the pages; no such image can be had here",
    20: "tests/charts/test_exceptions.py has the objects for OpenShift; no OpenShift can be had here",
    21: "tests/charts/test_monitoring.py joins series made by hand with ours; no dcgm-exporter was run",
}
