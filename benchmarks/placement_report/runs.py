"""Says which traces are played on which clusters, and by which policies."""

from dataclasses import dataclass

from benchmarks.placement import trace_files
from benchmarks.placement.muri import EFFICIENCY
from testing.processes import Failed
from testing.shipped import slots_per_gpu

_SLOTS = f"--slots={slots_per_gpu()}"
# Each name has (its name in tables, the arguments of placement_trace).
POLICIES = {
    "fifo": ("exclusive, first come first served", ("fifo",)),
    "shortest": ("exclusive, shortest remaining first (stops jobs)", ("shortest",)),
    "random": ("pairs by chance", ("random",)),
    "muri": ("Muri-S, with its published penalties (stops and moves jobs, knows what is left)", ("muri",)),
    "muri_l": ("Muri-L, with its published penalties (stops and moves jobs)", ("muri_l",)),
    "shipped": ("**the engine as it ships**", ("shipped", _SLOTS)),
    "unbounded": ("the engine as it ships, without a bound on waiting", ("shipped", _SLOTS, "--starvation=1e18")),
    "two_slots": ("the engine as it ships, but with two slots for each GPU", ("shipped", "--slots=2")),
    "powers": ("the engine with Muri's powers (stops and moves jobs, knows what is left)", ("powers",)),
}


@dataclass(frozen=True)
class Run:
    """Describes a run. `files` are all that are read, the trace first. `options` returns placement_trace's options for
    the files' paths."""

    name: str
    title: str
    files: tuple
    options: object
    nodes: int

    def command(self, program, policy):
        """Returns the command line. Raises Failed where a file is missing or differs from the published one."""
        paths = [file.path() for file in self.files]
        return [program, paths[0], *POLICIES[policy][1], f"--efficiency={EFFICIENCY}", f"--nodes={self.nodes}",
                *self.options(paths)]


def _folder(paths):
    """Returns the folder of files that placement_trace finds by their folder. All must be in one: what it reads must be
    what was checked."""
    folders = {path.parent for path in paths}
    if len(folders) > 1:
        raise Failed(f"traces: expected one folder with all of {', '.join(path.name for path in paths)}, got "
                     f"{', '.join(sorted(map(str, folders)))}")
    return folders.pop()


_PHILLY_CLUSTERS = ("0e4a51", "7f04ca", "ee9e8c")

RUNS = (
    Run("muri", "Muri's cluster experiment, 8 nodes of 8 GPUs", (trace_files.MURI_CLUSTER,), lambda paths: [], 8),
    Run("muri_failures",
        "Muri's cluster experiment, 8 nodes of 8 GPUs; each node fails about once in 7 days for an hour",
        (trace_files.MURI_CLUSTER,), lambda paths: [f"--mean-up={7 * 86400}", "--down=3600", "--checkpoint=1800"], 8),
    Run("gavel", "Gavel's trace of Philly's virtual cluster 0e4a51, 6 nodes of 8 GPUs",
        (trace_files.GAVEL_TRACE, trace_files.GAVEL_RATES),
        lambda paths: ["--format=gavel", f"--throughputs={paths[1]}"], 6),
    Run("philly", f"Philly's virtual clusters {', '.join(_PHILLY_CLUSTERS)} together, 18 nodes of 8 GPUs",
        (trace_files.PHILLY, *trace_files.POLLUX_STEPS),
        lambda paths: ["--format=philly", f"--placements={_folder(paths[1:])}",
                       f"--clusters={','.join(_PHILLY_CLUSTERS)}"], 18),
)
