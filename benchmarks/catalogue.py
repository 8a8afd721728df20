"""Lists all figures in the order in which they are measured: figures that later ones depend on come first. Each has
the kind of its cases, where a case names none (benchmarks/kinds.py), and the folders of the code that it depends on.
A kept figure is too old when more than a tenth of that code has changed since (benchmarks/moved_on.py)."""

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
    kind: str
    folders: tuple


FIGURES = {
    "simgpu_error": Figure("processes", _SOFTWARE_GPU),
    "eta": Figure("processes", _TURNS),
    "losses_identical": Figure("processes", ("sidecar", *_SOFTWARE_GPU)),
    "torch_identical": Figure("program", ("sidecar", *_SOFTWARE_GPU)),
    "torch_budget": Figure("program", ("sidecar", *_SOFTWARE_GPU)),
    "torch_eta": Figure("processes", _TURNS),
    "kit_large": Figure("program", _SOFTWARE_GPU),
    "torch_solo_overhead": Figure("program", ("sidecar",)),
    "torch_kills": Figure("program", _TURNS),
    "solo_overhead": Figure("processes", _TURNS),
    "gain_over_timeslicing": Figure("processes", _TURNS),
    "gain_over_mps": Figure("processes", _TURNS),
    "eta_timeslice": Figure("processes", _TURNS),
    "eta_start": Figure("processes", _TURNS),
    "eta_many": Figure("processes", _TURNS),
    "eta_idle": Figure("processes", _TURNS),
    "fair": Figure("processes", _TURNS),
    "priority": Figure("processes", _TURNS),
    "max_slowdown": Figure("processes", _TURNS),
    "guard": Figure("processes", _TURNS),
    "adverse": Figure("processes", _TURNS),
    "join_iterations": Figure("processes", _TURNS),
    "solo_estimate_error": Figure("processes", ("sidecar", "turn", "deviceplugin/arbiter", "deviceplugin/metrics")),
    "gain_error": Figure("processes", ("sidecar", "turn", "deviceplugin/arbiter", "deviceplugin/stats")),
    "advise_error": Figure("processes", (*_TURNS, "common/gains", "cli/cluster")),
    "cpu_cost": Figure("processes", ("sidecar", "turn", "deviceplugin/arbiter")),
    "handover_ratio": Figure("program", ("turn", *_SOFTWARE_GPU)),
    "hook_ns": Figure("program", ("sidecar",)),
    "so_symbols": Figure("program", ("sidecar",)),
    "referee": Figure("program", ("sidecar/hooks", "simgpu/cuda", "simgpu/mps")),
    "budget_error": Figure("program", ("sidecar/memory", "sidecar/hooks", "simgpu/cuda")),
    "fault_matrix": Figure("processes", _TURNS),
    "kills": Figure("processes", _TURNS),
    "fault_matrix_ipc": Figure("processes", (*_TURNS, *_SIGNALS)),
    "kills_ipc": Figure("processes", (*_TURNS, *_SIGNALS)),
    "users_ipc": Figure("processes", (*_TURNS, *_SIGNALS, "simgpu/mps")),
    "exits": Figure("processes", _TURNS),
    "strangers": Figure("processes", (*_TURNS, "deviceplugin/pods")),
    "arbiter_restarts": Figure("processes", _TURNS),
    "hostile": Figure("processes", ("sidecar", "turn", "deviceplugin/arbiter")),
    "charged": Figure("processes", ("turn", "deviceplugin/arbiter", "deviceplugin/stats", "deviceplugin/metrics")),
    "idle_process": Figure("program", ("sidecar",)),
    "framework_time": Figure("program", ("sidecar",)),
    "order_model": Figure("model", ("turn",)),
    "muri": Figure("model", ("extender/placement",)),
    "muri_ratio": Figure("model", ("extender/placement",)),
    "muri_ratio_shipped": Figure("model", ("extender/placement",)),
    "interleavings": Figure("model", ("extender/placement", "extender/gang")),
    "preemption": Figure("model", ("extender/placement",)),
    "mutants": Figure("program", ("turn", "sidecar/phase", "extender/placement", "extender/gang", "deviceplugin/plugin",
                                  "deviceplugin/stats")),
    "pipe_plan": Figure("program", ("pipeline", "cli/pipeline")),
    "pipe_run": Figure("processes", ("pipeline", "cli/pipeline", "examples/trainer", *_SOFTWARE_GPU)),
    "grid25": Figure("program", ("examples/grid", "extender/placement", "extender/profiles")),
    "mapping": Figure("program", ("extender/placement",)),
    "plan_ms": Figure("program", ("extender/placement",)),
    "attempt_ms": Figure("cluster", _CLUSTER),
    "decision_us": Figure("cluster", _CLUSTER),
    "rss_mib": Figure("cluster", _CLUSTER),
    "mismatch_rate": Figure("program", _NODE),
    "over_allocations": Figure("program", _NODE),
    "chain": Figure("cluster", (*_TURNS, *_NODE)),
    "chain_annotation": Figure("cluster", (*_TURNS, *_NODE, "extender")),
    "chain_helm": Figure("cluster", (*_TURNS, *_NODE, "extender")),
    "shares": Figure("cluster", (*_TURNS, *_NODE, "extender/shares", "examples/trainer")),
    "opposed_helm": Figure("cluster", (*_NODE, "extender")),
    "control_plane": Figure("cluster", _CLUSTER),
    "gang_512": Figure("cluster", _CLUSTER),
    "leader_kills": Figure("cluster", _CLUSTER),
    "uplink": Figure("cluster", ("extender/placement", "extender/gang")),
    "opposed_cluster": Figure("cluster", _CLUSTER),
    "recognition": Figure("cluster", _CLUSTER),
    "karpenter": Figure("cluster", _CLUSTER),
    "upgrade": Figure("cluster", (*_NODE, "extender")),
    "reported": Figure("cluster", (*_NODE, "extender")),
    "webhook_faults": Figure("cluster", ("extender/admission", "common")),
    "doors": Figure("cluster", (*_NODE, "extender")),
    "churn": Figure("cluster", _CLUSTER),
    "config_errors": Figure("program", ("deviceplugin/config", "deviceplugin/values", "common/config")),
    "restarts": Figure("cluster", _NODE),
    "mps_server": Figure("program", ("deviceplugin/mps", "deviceplugin/sharing", "deviceplugin/plugin", "simgpu/mps")),
    "added_start_ms": Figure("cluster", _NODE),
    "private_mib": Figure("cluster", _NODE),
    "hostile_node": Figure("processes", ("sidecar", "turn", *_NODE)),
    "opposed_node": Figure("cluster", ("sidecar", *_NODE)),
    "cgroup_v2": Figure("cluster", _NODE),
    "sbom": Figure("program", ("tools/trust",)),
    "verify": Figure("program", ("tools/trust",)),
    "gpu_suite": Figure("program", ("benchmarks/gpu",)),
    "house": Figure("program", _PRODUCT),
    "size": Figure("program", _PRODUCT),
    "eta_hostgates_beside": Figure("processes", _TURNS),
    "eta_gaps": Figure("processes", _TURNS),
    "solo_gaps": Figure("processes", _TURNS),
    "gaps_losses": Figure("processes", ("sidecar", *_SOFTWARE_GPU)),
    "gaps_hang": Figure("processes", _TURNS),
    "eta_ipc": Figure("processes", (*_TURNS, *_SIGNALS)),
    "ipc_idle": Figure("program", ("deviceplugin/arbiter", *_SIGNALS)),
}
# `python3 -m tools.soak` keeps this one. It plays tests from all folders.
SOAK = Figure("program", ("sidecar", "turn", "deviceplugin", "extender", "common"))


def figure(name):
    """Returns the Figure of a file of benchmarks/results, by its name without .jsonl. Raises KeyError if there is
    none."""
    return SOAK if name == "soak" else FIGURES[name]
