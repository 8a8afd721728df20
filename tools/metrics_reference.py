"""Writes the tables of docs/metrics.md from the sources: python3 tools/metrics_reference.py [--check].

A metric's name, kind and help stand beside each other in the source that makes it. Its labels are named here, and a
test compares them with what a daemon shows. --check changes nothing and exits 1 if the file differs.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.reference_page import keep  # noqa: E402

PAGE = ROOT / "docs/metrics.md"
BEGIN, END = "<!-- metrics: tools/metrics_reference.py {} -->\n", "<!-- end of metrics -->\n"
SOURCES = {"daemon": ("common/metrics/*.h", "deviceplugin/metrics/*.cc"),
           "extender": ("common/metrics/*.h", "extender/metrics/*.cc", "extender/*.cc")}

_LITERALS = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'
# Functions that make a family take NAME, HELP[, values]. Families from `Register` have .Name(NAME) .Help(HELP).
_MADE = re.compile(rf'(\w+)\s*\(\s*"(crossover_[a-z0-9_]+)"\s*,\s*({_LITERALS})([^"]*?MetricType::(\w+))?', re.DOTALL)
_BUILT = re.compile(rf'Build(\w+)\(\)\s*\.Name\("(crossover_[a-z0-9_]+)"\)\s*\.Help\(({_LITERALS})\)', re.DOTALL)
_KINDS = {"gauge": "gauge", "counter": "counter", "Gauge": "gauge", "Counter": "counter", "OfGpus": "gauge",
          "OfShm": "gauge"}

CLIENT = ("gpu_uuid", "gang", "namespace", "pod")
_OF_GPU = ("gpu_uuid",)
# Labels are listed here for metrics of the daemon and the extender. A metric that is not listed has none.
LABELS = {
    "crossover_build_info": ("version",),
    "crossover_step_shared_seconds": (*CLIENT, "peer_gang"),
    "crossover_step_alone_seconds": (*CLIENT, "source"),
    "crossover_step_alone_age_seconds": CLIENT,
    "crossover_compute_seconds": CLIENT,
    "crossover_communication_seconds": (*CLIENT, "source"),
    "crossover_input_wait_seconds": CLIENT,
    "crossover_exposed_communication_ratio": (*CLIENT, "source"),
    "crossover_slowdown_ratio": (*CLIENT, "peer_gang", "source"),
    "crossover_gain_ratio": (*CLIENT, "peer_gang", "source"),
    "crossover_gain_error_ratio": (*CLIENT, "peer_gang"),
    "crossover_gain_uncertain": (*CLIENT, "peer_gang"),
    "crossover_eta_ratio": (*CLIENT, "peer_gang", "source"),
    "crossover_gpu_busy_ratio": _OF_GPU,
    "crossover_gpu_nvml_utilization_ratio": _OF_GPU,
    "crossover_gpu_memory_used_bytes": _OF_GPU,
    "crossover_gpu_memory_total_bytes": _OF_GPU,
    "crossover_charged_gpu_seconds_total": ("gpu_uuid", "gang", "namespace"),
    "crossover_turns_total": CLIENT,
    "crossover_turn_wait_seconds": CLIENT,
    "crossover_turn_hold_seconds": CLIENT,
    "crossover_cap_refused": CLIENT,
    "crossover_client_faults_total": CLIENT,
    "crossover_client_watched_only": (*CLIENT, "reason"),
    "crossover_memory_used_bytes": CLIENT,
    "crossover_memory_budget_bytes": CLIENT,
    "crossover_memory_refusals_total": CLIENT,
    "crossover_reductions_compressed": (*CLIENT, "level"),
    "crossover_reductions_plain_total": (*CLIENT, "reason"),
    "crossover_transport_changes_total": CLIENT,
    "crossover_clients": ("gpu_uuid", "mode", "phase", "transport"),
    "crossover_handovers_total": ("gpu_uuid", "by"),
    "crossover_token_corrections_total": ("gpu_uuid", "action"),
    "crossover_turns_preempted_total": _OF_GPU,
    "crossover_watchdog_openings_total": _OF_GPU,
    "crossover_turn_rest_while_ready_seconds_total": _OF_GPU,
    "crossover_arrivals_held_back_total": _OF_GPU,
    "crossover_guard_trials_total": _OF_GPU,
    "crossover_guard_trial_seconds_total": _OF_GPU,
    "crossover_guard_lost_seconds_total": _OF_GPU,
    "crossover_guard_rate_ratio": ("gpu_uuid", "way"),
    "crossover_turnstile_damages_total": _OF_GPU,
    "crossover_refused_clients_total": ("reason",),
    "crossover_signallers": _OF_GPU,
    "crossover_signal_offers_total": ("gpu_uuid", "state"),
    "crossover_signal_proofs_total": ("gpu_uuid", "outcome"),
    "crossover_signals_again_total": _OF_GPU,
    "crossover_signal_memory_bytes": ("gpu_uuid", "source"),
    "crossover_signaller_resident_bytes": _OF_GPU,
    "crossover_signaller_cpu_seconds_total": _OF_GPU,
    "crossover_slots": _OF_GPU,
    "crossover_slots_used": _OF_GPU,
    "crossover_gpu_healthy": _OF_GPU,
    "crossover_gpu_used_by_others": _OF_GPU,
    "crossover_gpu_unhooked_processes": _OF_GPU,
    "crossover_gpu_silent_processes": _OF_GPU,
    "crossover_gpu_held": _OF_GPU,
    "crossover_gpu_pods_of_other_plugins": _OF_GPU,
    "crossover_gpu_xids_total": ("gpu_uuid", "xid", "blames"),
    "crossover_allocations_total": ("outcome",),
    "crossover_node_mode": ("mode",),
    "crossover_sharing_info": ("sharing",),
    "crossover_configuration_info": ("configuration",),
    "crossover_mistyped_switches": ("kind",),
    "crossover_extender_answer_seconds": ("verb", "outcome"),
    "crossover_extender_admissions_total": ("outcome",),
    "crossover_extender_gangs": ("state",),
    "crossover_extender_waiting_gangs": ("reason",),
    "crossover_extender_claims_ended_total": ("end",),
    "crossover_extender_shrink_choices_total": ("choice",),
}


def text_of(literals):
    """Returns the string that C++ makes of adjacent literals."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', literals)
    return "".join(parts).replace('\\"', '"')


def found_in(source):
    """Returns {name: (kind, help)} of one source."""
    found = {}
    for maker, name, literals, _, kind in _MADE.findall(source):
        found[name] = (kind.lower() or _KINDS[maker], text_of(literals).rstrip(".") + ".")
    for kind, name, literals in _BUILT.findall(source):
        found[name] = (kind.lower(), text_of(literals))
    return found


def metrics(program):
    """Returns {name: (kind, help)} of a program's metrics, sorted by name."""
    found = {}
    for pattern in SOURCES[program]:
        for path in ROOT.glob(pattern):
            found |= found_in(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def table(program):
    lines = ["| metric | kind | labels | |", "|---|---|---|---|"]
    for name, (kind, words) in metrics(program).items():
        labels = ", ".join(f"`{label}`" for label in LABELS.get(name, ()))
        lines.append(f"| `{name}` | {kind} | {labels} | {words} |")
    return "\n".join(lines) + "\n"


def rewritten(page):
    for program in SOURCES:
        begin = BEGIN.format(program)
        head, rest = page.split(begin)
        page = head + begin + table(program) + END + rest.split(END, 1)[1]
    return page


if __name__ == "__main__":
    sys.exit(keep(PAGE, rewritten, "tools/metrics_reference.py"))
