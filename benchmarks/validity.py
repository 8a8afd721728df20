"""The void rule: when a run on a busy machine says nothing.

A run with more than 60% of all cores used, or with kernels or ring steps later than 300 us at p99, is void. A void
run is repeated up to three times; after that its figure is missed.
"""

from dataclasses import dataclass

CPU_LIMIT = 0.60
LATENESS_P99_LIMIT_US = 300.0
REPEATS = 3


@dataclass(frozen=True)
class Load:
    """CPU used (share of all cores, everything on the machine included) and the worst process's lateness."""

    cpu: float
    kernel_p50_us: float
    kernel_p99_us: float
    ring_p50_us: float
    ring_p99_us: float

    @property
    def void(self):
        """Why the run is void, or an empty string."""
        if self.cpu > CPU_LIMIT:
            return f"{self.cpu:.0%} of all cores used, limit {CPU_LIMIT:.0%}"
        for what, late in (("kernels", self.kernel_p99_us), ("ring steps", self.ring_p99_us)):
            if late > LATENESS_P99_LIMIT_US:
                return f"{what} {late:.0f} us late at p99, limit {LATENESS_P99_LIMIT_US:.0f} us"
        return ""

    def as_dict(self):
        return {"cpu": round(self.cpu, 3), "kernel_late_us": [self.kernel_p50_us, self.kernel_p99_us],
                "ring_late_us": [self.ring_p50_us, self.ring_p99_us], "void": self.void}


class CpuMeter:
    """Share of all cores used since it was made, from the kernel's own counters."""

    def __init__(self, read=None):
        self._read = read or _read_proc_stat
        self._busy, self._total = self._read()

    def share(self):
        busy, total = self._read()
        return (busy - self._busy) / max(1, total - self._total)


def parse_proc_stat(text):
    """(busy, total) clock ticks of all cores."""
    fields = [int(f) for f in text.splitlines()[0].split()[1:9]]
    idle = fields[3] + fields[4]
    return sum(fields) - idle, sum(fields)


def _read_proc_stat():
    with open("/proc/stat", encoding="ascii") as file:
        return parse_proc_stat(file.read())


def load_of(cpu, reports):
    """The load of a run from the reports of its processes; the worst process speaks for all."""
    def worst(kind, quantile):
        return max((float(r[kind][quantile]) for r in reports if r.get(kind, {}).get("count")), default=0.0)

    return Load(cpu, worst("kernel_late_us", "p50"), worst("kernel_late_us", "p99"),
                worst("ring_step_late_us", "p50"), worst("ring_step_late_us", "p99"))
