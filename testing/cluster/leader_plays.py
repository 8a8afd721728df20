"""Kills and replaces replicas of scheduler and extender, and makes them lose their Lease, while gangs come and go."""

import contextlib
import signal
import time

from testing.cluster.control import NAMESPACE, SCHEDULER
from testing.cluster.gang_cluster import POOL
from testing.cluster.rig.api import Watch

PROBE = "probe"  # a pool of nodes for one-pod gangs, which show that a replica leads
_LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"


class Leaders:
    """A Leaders object is a context that follows the Lease. `lease_s` is how long its holder may go without renewing
    it."""

    def __init__(self, world, lease_s):
        self._world, self._lease_s = world, lease_s
        self._holder, self._renewed = "", 0.0
        self._probes = 0

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self._world.add_nodes(stack, ["probe-node"], 1, PROBE)
            stack.enter_context(Watch(self._world.cluster.api(), _LEASES, self._on_lease, patient=True))
            self._world.until(lambda: self._holder, "an extender leads")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def kill(self, standby_late_s=0.0):
        """Kills the pair that leads, as when its node dies, and starts it again. Returns the seconds from the end of
        its lease until a gang that came meanwhile is bound. With `standby_late_s` no replica runs until so long
        after that end."""
        self._world.control.await_ready()
        number, replica = self._leading()
        processes = self._world.cluster.processes
        for name in (replica.scheduler, replica.extender):
            processes.signal(name, signal.SIGKILL)
        while any(map(processes.alive, (replica.scheduler, replica.extender))):
            time.sleep(0.002)
        ends = self._renewed + self._lease_s
        probe = self.probe()
        if standby_late_s:
            others = set(range(len(self._world.control.replicas))) - {number}
            self._stop_until(ends + standby_late_s, others)
        self._world.control.start_pair(number)
        return self.answered(probe) - ends

    def _stop_until(self, end, numbers):
        for number in numbers:
            self._world.control.stop_pair(number)
        time.sleep(max(0.0, end - time.monotonic()))
        for number in numbers:
            self._world.control.start_pair(number)

    def probe(self):
        """Creates a gang that any leader can place at once, and returns its name."""
        self._probes += 1
        name = f"probe-{self._probes}"
        self._world.create(name, 1, nodeSelector={POOL: PROBE})
        return name

    def answered(self, probe, patience_s=60.0):
        """Waits until the probe is bound, deletes it, and returns when it was bound."""
        self._world.until(lambda: self._world.lives.was_whole(probe), f"{probe} is bound", patience_s)
        self._world.end(probe)
        return self._world.lives.life(probe).whole_since

    def _leading(self):
        """Returns the number and the ports of the replica that holds the Lease."""
        def found():
            return [(number, replica) for number, replica in enumerate(self._world.control.replicas)
                    if self._holder.startswith(f"{replica.host}_")]
        self._world.until(found, "one of ours leads")
        return found()[0]

    def _on_lease(self, when, kind, lease):
        if kind in ("ADDED", "MODIFIED") and lease["metadata"]["name"] == SCHEDULER:
            self._holder, self._renewed = lease["spec"].get("holderIdentity") or "", when
