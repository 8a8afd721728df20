"""The void rule: decides when a run on a busy machine proves nothing.

A run is void if more than 60% of all cores were used, or if kernels or ring steps were later than 300 us at p99. A
void run is repeated up to three times; after that its figure is missed.
"""

import time
from dataclasses import dataclass

from testing import awake

CPU_LIMIT = 0.60
LATENESS_P99_LIMIT_US = 300.0
REPEATS = 3
# Limits as shares of all cores, while nothing of ours runs.
QUIET_USED, QUIET_STOLEN = 0.10, 0.003


@dataclass(frozen=True)
class Limits:
    """Holds how much of each a run may have before it is void. Shares are of all cores."""

    late_us: float = LATENESS_P99_LIMIT_US
    cpu: float = CPU_LIMIT
    stolen: float = 1.0


@dataclass(frozen=True)
class Load:
    """CPU used (share of all cores, with everything on the machine), the share that the hypervisor gave to others
    while this machine wanted it, and the lateness of the worst process."""

    cpu: float
    stolen: float
    kernel_p50_us: float
    kernel_p99_us: float
    ring_p50_us: float
    ring_p99_us: float
    silent: int = 0  # processes of the run that reported no kernels; the run is then void
    limits: Limits = Limits()

    @property
    def late(self):
        """Tells whether threads ran later than the limit allows."""
        return max(self.kernel_p99_us, self.ring_p99_us) > self.limits.late_us

    @property
    def void(self):
        """Why the run is void, or ""."""
        if self.silent:
            return f"{self.silent} processes did not report how late their kernels were"
        if self.cpu > self.limits.cpu:
            return f"{self.cpu:.0%} of all cores used, limit {self.limits.cpu:.0%}"
        for what, late in (("kernels", self.kernel_p99_us), ("ring steps", self.ring_p99_us)):
            if late > self.limits.late_us:
                return (f"{what} {late:.0f} us late at p99, limit {self.limits.late_us:.0f} us; "
                        f"{self.stolen:.1%} of all cores stolen by the hypervisor")
        if self.stolen > self.limits.stolen:
            return f"{self.stolen:.1%} of all cores stolen by the hypervisor, limit {self.limits.stolen:.1%}"
        return ""

    def in_words(self):
        return (f"{self.cpu:.0%} of all cores used, {self.stolen:.1%} stolen, kernels {self.kernel_p50_us:.0f} / "
                f"{self.kernel_p99_us:.0f} us late, ring steps {self.ring_p50_us:.0f} / {self.ring_p99_us:.0f} "
                "(p50 / p99)")

    def as_dict(self):
        return {"cpu": round(self.cpu, 3), "stolen": round(self.stolen, 4),
                "kernel_late_us": [self.kernel_p50_us, self.kernel_p99_us],
                "ring_late_us": [self.ring_p50_us, self.ring_p99_us], "void": self.void}


class CpuMeter:
    """Measures shares of all cores since it was made, from the kernel's own counters."""

    def __init__(self, read=None):
        self._read = read or _read_proc_stat
        self._before = self._read()

    def shares(self):
        """Returns (used, stolen)."""
        busy, stolen, total = (now - before for now, before in zip(self._read(), self._before))
        return busy / max(1, total), stolen / max(1, total)

    def idle(self):
        """Returns the share that was idle."""
        return 1 - sum(self.shares())


def wait_until_quiet(patience_s=90.0, watch_s=2.0):
    """Waits until nothing else keeps the machine busy and nothing is stolen from it, or until the patience ends.
    Noise from other machines comes in bursts of up to a minute: a repeat in the same burst would be void as well."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        with awake.paused():
            meter = CpuMeter()
            time.sleep(watch_s)
            used, stolen = meter.shares()
        if used < QUIET_USED and stolen < QUIET_STOLEN:
            return


def parse_proc_stat(text):
    """Returns (busy, stolen, total) clock ticks of all cores."""
    fields = [int(f) for f in text.splitlines()[0].split()[1:9]]
    idle, stolen = fields[3] + fields[4], fields[7]
    return sum(fields) - idle - stolen, stolen, sum(fields)


def _read_proc_stat():
    with open("/proc/stat", encoding="ascii") as file:
        busy, stolen, total = parse_proc_stat(file.read())
    return busy - awake.ticks(), stolen, total


def load_of(cpu, stolen, reports, processes=0):
    """Returns the load of a run from the reports of its `processes`. The worst one counts for all."""
    def worst(kind, quantile):
        return max((float(r[kind][quantile]) for r in reports if r.get(kind, {}).get("count")), default=0.0)

    return Load(cpu, stolen, worst("kernel_late_us", "p50"), worst("kernel_late_us", "p99"),
                worst("ring_step_late_us", "p50"), worst("ring_step_late_us", "p99"),
                max(0, processes - sum(bool(r.get("kernel_late_us", {}).get("count")) for r in reports)))
