import unittest

from benchmarks.node.pod_fates import PodFates


def pod(phase, uid="1", name="one", owner="job-1", container=None, **status):
    containers = [container or {"state": {"running": {}}}] if phase != "Pending" and "reason" not in status else []
    return {"metadata": {"uid": uid, "name": name, "ownerReferences": [{"name": owner}]},
            "spec": {"nodeName": "node-1"}, "status": {"phase": phase, "containerStatuses": containers, **status}}


class Fates(unittest.TestCase):
    def setUp(self):
        self.fates = PodFates()

    def tell(self, *events):
        for when, (kind, thing) in enumerate(events):
            self.fates.on_event(when, kind, thing)

    def test_a_pod_that_ran_and_failed_is_lost_once(self):
        self.tell(("ADDED", pod("Pending")), ("MODIFIED", pod("Running")),
                  ("MODIFIED", pod("Failed", reason="Error", message="gone")),
                  ("MODIFIED", pod("Failed", reason="Error", message="gone")), ("DELETED", pod("Failed")))
        self.assertEqual(self.fates.lost, ["one on node-1: Error: gone"])
        self.assertEqual(self.fates.turned_down, [])

    def test_one_that_never_began_was_turned_down(self):
        unknown = {"state": {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown"}}}
        self.tell(("ADDED", pod("Pending")), ("MODIFIED", pod("Failed", reason="UnexpectedAdmissionError")),
                  ("MODIFIED", pod("Failed", container=unknown)))
        self.assertEqual(self.fates.lost, [])
        self.assertEqual(self.fates.turned_down, ["one on node-1: UnexpectedAdmissionError: "])

    def test_one_whose_container_could_not_be_started_never_began(self):
        end = {"exitCode": 128, "reason": "StartError", "message": "context canceled"}
        self.tell(("ADDED", pod("Failed", container={"state": {"terminated": end}})))
        self.assertEqual(self.fates.lost, [])
        self.assertEqual(self.fates.turned_down, ["one on node-1: Failed: exit code 128 StartError context canceled"])

    def test_one_that_could_be_started_the_second_time_is_no_loss_until_it_ends(self):
        failed = {"restartCount": 1, "lastState": {"terminated": {"exitCode": 128, "reason": "StartError"}}}
        self.tell(("ADDED", pod("Running", container={**failed, "state": {"running": {}}})))
        self.assertEqual((len(self.fates.lost), len(self.fates.turned_down)), (0, 1))
        ended = {"terminated": {"exitCode": 1, "reason": "Error"}}
        self.tell(("MODIFIED", pod("Failed", container={**failed, "state": ended})))
        self.assertEqual((len(self.fates.lost), len(self.fates.turned_down)), (1, 1))

    def test_a_container_that_starts_anew_and_a_pod_that_vanishes_are_losses(self):
        anew = {"restartCount": 1, "state": {}, "lastState": {"terminated": {"exitCode": 137, "reason": "Error"}}}
        self.tell(("ADDED", pod("Running", container=anew)), ("ADDED", pod("Running", uid="2", name="two")),
                  ("DELETED", pod("Running", uid="2", name="two")))
        self.assertEqual(self.fates.lost, ["one on node-1: its container has started anew: exit code 137 Error ",
                                           "two on node-1: vanished"])

    def test_what_ended_well_or_was_ended_by_us_is_no_loss(self):
        self.fates.let_go("job-2")
        self.fates.let_go("three")
        self.tell(("ADDED", pod("Succeeded")), ("ADDED", pod("Running", uid="2", name="two", owner="job-2")),
                  ("DELETED", pod("Failed", uid="2", name="two", owner="job-2")),
                  ("ADDED", pod("Running", uid="3", name="three")), ("MODIFIED", pod("Failed", uid="3", name="three")))
        self.assertEqual((self.fates.lost, self.fates.turned_down), ([], []))


if __name__ == "__main__":
    unittest.main()
