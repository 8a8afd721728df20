"""Lists all figures in the order in which they are measured: figures that later ones depend on come first. Each has the
folder of its module, the kind of its cases, where a case names none (benchmarks/runner/kinds.py), and the folders of
the code that it depends on. A kept figure is too old when more than a tenth of that code has changed since
(benchmarks/runner/moved_on.py)."""

import importlib
from dataclasses import dataclass

# The code that runs when jobs take turns. Without signals in device memory, sidecar/ipc does not run.
_LIBRARY = ("sidecar/arbiter_client", "sidecar/gates", "sidecar/hooks", "sidecar/log", "sidecar/memory",
            "sidecar/phase", "sidecar/session", "sidecar/threads")
_SOFTWARE_GPU = ("simgpu/cuda", "simgpu/machine", "simgpu/model", "simgpu/nccl", "simgpu/peer")
_TURNS = (*_LIBRARY, "turn", "deviceplugin/arbiter", *_SOFTWARE_GPU)
_SIGNALS = ("sidecar/ipc", "deviceplugin/signaller", "deviceplugin/signals")
_NODE = ("deviceplugin", "common")
_CLUSTER = ("extender", "common")
_PRODUCT = ("proto", "common", "turn", "sidecar", "deviceplugin", "extender", "cli")


@dataclass(frozen=True)
class Figure:
    subject: str  # its module is benchmarks/SUBJECT/NAME.py
    kind: str
    folders: tuple


FIGURES = {
    "simgpu_error": Figure("quality", "processes", _SOFTWARE_GPU),
    "eta": Figure("turns", "processes", _TURNS),
    "losses_identical": Figure("faults", "processes", ("sidecar", *_SOFTWARE_GPU)),
    "torch_identical": Figure("frameworks", "program", ("sidecar", *_SOFTWARE_GPU)),
    "torch_budget": Figure("frameworks", "program", ("sidecar", *_SOFTWARE_GPU)),
    "torch_eta": Figure("frameworks", "processes", _TURNS),
    "kit_large": Figure("frameworks", "program", _SOFTWARE_GPU),
    "torch_solo_overhead": Figure("frameworks", "program", ("sidecar",)),
    "torch_kills": Figure("frameworks", "program", _TURNS),
    "solo_overhead": Figure("overhead", "processes", _TURNS),
    "gain_over_timeslicing": Figure("turns", "processes", _TURNS),
    "gain_over_mps": Figure("turns", "processes", _TURNS),
    "eta_timeslice": Figure("turns", "processes", _TURNS),
    "eta_start": Figure("turns", "processes", _TURNS),
    "eta_many": Figure("turns", "processes", _TURNS),
    "eta_idle": Figure("turns", "processes", _TURNS),
    "fair": Figure("fairness", "processes", _TURNS),
    "priority": Figure("fairness", "processes", _TURNS),
    "max_slowdown": Figure("fairness", "processes", _TURNS),
    "guard": Figure("turns", "processes", _TURNS),
    "shrink_gain": Figure("turns", "processes", (*_TURNS, "shrink/library", "shrink/kernels", "shrink/codec",
                                                 "extender/reductions", "common/gains")),
    "adverse": Figure("turns", "processes", _TURNS),
    "join_iterations": Figure("turns", "processes", _TURNS),
    "solo_estimate_error": Figure("turns", "processes",
                                  ("sidecar", "turn", "deviceplugin/arbiter", "deviceplugin/metrics")),
    "gain_error": Figure("turns", "processes", ("sidecar", "turn", "deviceplugin/arbiter", "deviceplugin/stats")),
    "advise_error": Figure("planning", "processes", (*_TURNS, "common/gains", "cli/cluster")),
    "cpu_cost": Figure("overhead", "processes", ("sidecar", "turn", "deviceplugin/arbiter")),
    "handover_ratio": Figure("overhead", "program", ("turn", *_SOFTWARE_GPU)),
    "hook_ns": Figure("overhead", "program", ("sidecar",)),
    "so_symbols": Figure("overhead", "program", ("sidecar",)),
    "referee": Figure("quality", "program", ("sidecar/hooks", "simgpu/cuda", "simgpu/mps")),
    "budget_error": Figure("isolation", "program", ("sidecar/memory", "sidecar/hooks", "simgpu/cuda")),
    "fault_matrix": Figure("faults", "processes", _TURNS),
    "kills": Figure("faults", "processes", _TURNS),
    "fault_matrix_ipc": Figure("faults", "processes", (*_TURNS, *_SIGNALS)),
    "kills_ipc": Figure("faults", "processes", (*_TURNS, *_SIGNALS)),
    "users_ipc": Figure("isolation", "processes", (*_TURNS, *_SIGNALS, "simgpu/mps")),
    "exits": Figure("faults", "processes", _TURNS),
    "strangers": Figure("faults", "processes", (*_TURNS, "deviceplugin/pods")),
    "arbiter_restarts": Figure("faults", "processes", _TURNS),
    "hostile": Figure("isolation", "processes", ("sidecar", "turn", "deviceplugin/arbiter")),
    "charged": Figure("fairness", "processes",
                      ("turn", "deviceplugin/arbiter", "deviceplugin/stats", "deviceplugin/metrics")),
    "idle_process": Figure("overhead", "program", ("sidecar",)),
    "framework_time": Figure("overhead", "program", ("sidecar",)),
    "order_model": Figure("turns", "model", ("turn",)),
    "muri": Figure("placement", "model", ("extender/placement",)),
    "muri_ratio": Figure("placement", "model", ("extender/placement",)),
    "muri_ratio_shipped": Figure("placement", "model", ("extender/placement",)),
    "interleavings": Figure("scheduling", "model", ("extender/placement", "extender/gang")),
    "preemption": Figure("scheduling", "model", ("extender/placement",)),
    "mutants": Figure("quality", "program", ("turn", "sidecar/phase", "extender/placement", "extender/gang",
                                             "deviceplugin/plugin", "deviceplugin/stats")),
    "pipe_plan": Figure("planning", "program", ("pipeline", "cli/pipeline")),
    "pipe_run": Figure("planning", "processes", ("pipeline", "cli/pipeline", "examples/trainer", *_SOFTWARE_GPU)),
    "shrink_quality": Figure("quality", "program", ("examples/reductions", "examples/trainer", "shrink/codec")),
    "shrink_bits": Figure("quality", "program",
                          ("shrink/codec", "shrink/kernels", "shrink/library", "benchmarks/shrink_bits")),
    "grid25": Figure("planning", "program", ("examples/grid", "extender/placement", "extender/profiles")),
    "mapping": Figure("planning", "program", ("extender/placement",)),
    "plan_ms": Figure("scheduling", "program", ("extender/placement",)),
    "attempt_ms": Figure("scheduling", "cluster", _CLUSTER),
    "decision_us": Figure("scheduling", "cluster", _CLUSTER),
    "rss_mib": Figure("scheduling", "cluster", _CLUSTER),
    "mismatch_rate": Figure("node", "program", _NODE),
    "over_allocations": Figure("node", "program", _NODE),
    "chain": Figure("cluster", "cluster", (*_TURNS, *_NODE)),
    "chain_annotation": Figure("cluster", "cluster", (*_TURNS, *_NODE, "extender")),
    "chain_helm": Figure("cluster", "cluster", (*_TURNS, *_NODE, "extender")),
    "shares": Figure("cluster", "cluster", (*_TURNS, *_NODE, "extender/shares", "examples/trainer")),
    "opposed_helm": Figure("cluster", "cluster", (*_NODE, "extender")),
    "control_plane": Figure("scheduling", "cluster", _CLUSTER),
    "gang_512": Figure("scheduling", "cluster", _CLUSTER),
    "leader_kills": Figure("scheduling", "cluster", _CLUSTER),
    "uplink": Figure("scheduling", "cluster", ("extender/placement", "extender/gang")),
    "opposed_cluster": Figure("scheduling", "cluster", _CLUSTER),
    "recognition": Figure("scheduling", "cluster", _CLUSTER),
    "karpenter": Figure("scheduling", "cluster", _CLUSTER),
    "upgrade": Figure("cluster", "cluster", (*_NODE, "extender")),
    "skew": Figure("cluster", "cluster", (*_NODE, "extender")),
    "airgap": Figure("cluster", "cluster", ("tools/trust", "tools/packages", "charts")),
    "reported": Figure("cluster", "cluster", (*_NODE, "extender")),
    "webhook_faults": Figure("cluster", "cluster", ("extender/admission", "common")),
    "doors": Figure("cluster", "cluster", (*_NODE, "extender")),
    "churn": Figure("scheduling", "cluster", _CLUSTER),
    "config_errors": Figure("node", "program", ("deviceplugin/config", "deviceplugin/values", "common/config")),
    "restarts": Figure("node", "cluster", _NODE),
    "mps_server": Figure("node", "program",
                         ("deviceplugin/mps", "deviceplugin/sharing", "deviceplugin/plugin", "simgpu/mps")),
    "added_start_ms": Figure("node", "cluster", _NODE),
    "private_mib": Figure("node", "cluster", _NODE),
    "hostile_node": Figure("isolation", "processes", ("sidecar", "turn", *_NODE)),
    "opposed_node": Figure("node", "cluster", ("sidecar", *_NODE)),
    "cgroup_v2": Figure("node", "cluster", _NODE),
    "sbom": Figure("quality", "program", ("tools/trust",)),
    "verify": Figure("quality", "program", ("tools/trust",)),
    "reproducible": Figure("quality", "program", ("tools/trust", "tools/packages", "cmake")),
    "gpu_suite": Figure("quality", "program", ("benchmarks/gpu",)),
    "house": Figure("quality", "program", _PRODUCT),
    "size": Figure("quality", "program", _PRODUCT),
    "unchanged": Figure("quality", "program", _PRODUCT),
    "eta_hostgates_beside": Figure("turns", "processes", _TURNS),
    "eta_gaps": Figure("turns", "processes", _TURNS),
    "solo_gaps": Figure("overhead", "processes", _TURNS),
    "gaps_losses": Figure("faults", "processes", ("sidecar", *_SOFTWARE_GPU)),
    "gaps_hang": Figure("faults", "processes", _TURNS),
    "eta_ipc": Figure("turns", "processes", (*_TURNS, *_SIGNALS)),
    "shrink_vote": Figure("faults", "program", ("shrink/vote", "shrink/meeting", "shrink/library")),
    "shrink_absent": Figure("overhead", "program", ("shrink/library", "sidecar")),
    "shrink_declines": Figure("overhead", "program", ("shrink/library", "shrink/vote")),
    "shrink_bytes": Figure("overhead", "program", ("shrink/library", "shrink/kernels", "shrink/codec")),
    "ipc_idle": Figure("overhead", "program", ("deviceplugin/arbiter", *_SIGNALS)),
}
# `python3 -m tools.soak` keeps this one. It plays tests from all folders.
SOAK = Figure("", "program", ("sidecar", "turn", "deviceplugin", "extender", "common"))


def figure(name):
    """Returns the Figure of a file of benchmarks/results, by its name without .jsonl. Raises KeyError if there is
    none."""
    return SOAK if name == "soak" else FIGURES[name]


def module(name):
    """Imports and returns the module of a figure. It has CASES, and measure(context, case), which yields
    results.Measured objects. Raises KeyError if there is no such figure."""
    return importlib.import_module(f"benchmarks.{FIGURES[name].subject}.{name}")
