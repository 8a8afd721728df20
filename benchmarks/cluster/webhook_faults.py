"""webhook_faults counts conditions under which another part of the cluster suffers because of the webhook, or a pod
that needs it gets no clear answer (tests/cluster/security/test_webhook_faults.py).

Controls: a configuration that asks about every pod, while the webhook is down; a webhook that stands still while others
ask it.
"""

import contextlib
import json
import os
import signal

from benchmarks.runner.conditions import unmet
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.processes import Failed
from tests.cluster.security import test_webhook_faults

GOAL = Goal("==", 0)
SCOPE = "component"
_AWAY = {"down": ("test_it_is_down",), "expired": ("test_its_certificate_has_expired",),
         "half_rotated": ("test_its_authority_is_replaced_under_load",),
         "clock_skew": ("test_its_clock_is_ten_minutes_ahead", "test_its_clock_is_weeks_ahead")}
_ASKED = {"huge_and_hostile": ("test_huge_pods", "test_hostile_requests"),
          "idle_connections": ("test_connections_that_say_nothing",),
          "1000_a_second": ("test_a_thousand_requests_a_second",)}
CASES = (*_AWAY, *_ASKED)
_ASKED_A_SECOND = 950  # at least, of 1,000 that are paced


class _AsksAboutAll(test_webhook_faults.WebhookFaults):
    @classmethod
    def configure(cls):
        super().configure()
        cls.cluster.kubectl("patch", "mutatingwebhookconfiguration", "crossover-admission", "--type", "json", "--patch",
                            json.dumps([{"op": "remove", "path": "/webhooks/0/matchConditions"}]))


class _StandsStill(test_webhook_faults.WebhookFaults):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.go_on)
        for pid in self.cluster.processes.family("admission"):
            os.kill(pid, signal.SIGSTOP)

    def go_on(self):
        for pid in self.cluster.processes.family("admission"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def measure(context, case):
    build = context.build
    os.environ |= {"BUILD": str(build.top), "ADMISSION_WEBHOOK": str(build.program("admission_webhook"))}
    names = (_AWAY | _ASKED)[case]
    found = unmet(test_webhook_faults.WebhookFaults, names)
    notes = {}
    if case == "1000_a_second":
        flood = test_webhook_faults.WebhookFaults.flood
        notes = {"reviews_a_second": flood.rate(), "p99_ms": stats.percentile(flood.took_s, 99) * 1e3}
        if flood.rate() < _ASKED_A_SECOND:
            raise Failed(f"{flood.rate():.0f} reviews a second were asked for, not {_ASKED_A_SECOND}")
    if case in _AWAY:
        what, seen = "all pods are asked about, and it is down", unmet(_AsksAboutAll, ("test_it_is_down",))
    else:
        what, seen = "it stands still", unmet(_StandsStill, ("test_connections_that_say_nothing",))
    context.say(f"    {found or 'no job suffered'}; {what}: {seen}")
    yield Measured("webhook_faults", case, len(found), f"conditions of {len(names)}", GOAL, (len(found),),
                   controlled(GOAL, what, len(seen)), "the webhook that is shipped, before a real API server",
                   {"found": found, "control_saw": seen, "conditions": list(names), **notes})
