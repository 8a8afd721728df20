#include "cli/top/table.h"

#include <vector>

#include "cli/render/table.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

using node::v1::Client;
using node::v1::Gpu;
using node::v1::Top;

std::string DaemonLine(const node::v1::Daemon& daemon) {
  std::string line =
      "daemon " + daemon.version() + ", up " + Duration(daemon.uptime_s()) + ", mode " + daemon.mode();
  if (daemon.mode() != daemon.mode_configured()) {
    line += " (configured: " + daemon.mode_configured() +
            (daemon.mode_limited_by().empty() ? "" : "; " + daemon.mode_limited_by()) + ")";
  }
  if (daemon.events_dropped() != 0) {
    line += ", " + std::to_string(daemon.events_dropped()) + " events missing from these figures";
  }
  return line + "\n";
}

std::string GpuLine(const Gpu& gpu) {
  std::string line = "GPU " + gpu.uuid() + ": ";
  if (gpu.clients() == 0) return line + "no client\n";
  line += gpu.why_no_turns().empty() ? "turns are taken" : "no turns: " + gpu.why_no_turns();
  if (gpu.has_gain()) {
    line += "; gain " + Number(gpu.gain(), 2) + "x over one after the other";
    if (gpu.gain_uncertain()) line += " (uncertain, +-" + Number(gpu.gain_error() * 100, 0) + "%)";
  }
  if (gpu.has_rest_ratio())
    line += "; rested while a client waited " + Number(gpu.rest_ratio() * 100, 2) + "%";
  if (gpu.watchdog_openings() != 0) {
    line += "; watchdog openings " + std::to_string(gpu.watchdog_openings());
  }
  return line + "\n";
}

std::string SignalsLine(const node::v1::Signals& signals) {
  constexpr double kMiB = 1 << 20;
  const auto bytes = [](bool known, std::uint64_t value) {
    return NumberOr(known, static_cast<double>(value) / kMiB, 0, " MiB");
  };
  return "  signals: " + std::to_string(signals.signallers()) + " signallers; host memory " +
         bytes(signals.has_host_memory_bytes(), signals.host_memory_bytes()) + ", processor time " +
         NumberOr(signals.has_cpu_s(), signals.cpu_s(), 1, " s") + ", GPU memory " +
         bytes(signals.has_device_memory_bytes(), signals.device_memory_bytes()) +
         (signals.device_memory_source().empty() ? "" : " (" + signals.device_memory_source() + ")") +
         "; written late " + std::to_string(signals.late()) + "\n";
}

std::string Doing(const Client& client) {
  if (client.holding())
    return client.has_holding_ms() ? "holds " + Number(client.holding_ms(), 1) + " ms" : "holds";
  if (client.waiting())
    return client.has_waiting_ms() ? "waits " + Number(client.waiting_ms(), 1) + " ms" : "waits";
  return "-";
}

std::string Alone(const Client& client) {
  if (!client.has_alone()) return "-";
  const std::string& source = client.alone().source();
  return Number(client.alone().step_ms(), 1) + (source == "remembered"  ? " *"
                                                : source == "estimated" ? " ~"
                                                                        : "");
}

std::string Age(const Client& client) { return client.has_alone() ? Duration(client.alone().age_s()) : "-"; }

std::string Cap(const Client& client) {
  if (!client.has_max_slowdown()) return "-";
  return Number(client.max_slowdown(), 2) + (client.max_slowdown_refused() ? "x !" : "x");
}

std::vector<std::string> RowOf(const Client& client) {
  return {client.gang(),
          std::to_string(client.rank()),
          client.pid() == 0 ? "-" : std::to_string(client.pid()),
          client.offender()               ? "offender"
          : client.watched_only().empty() ? client.phase()
                                          : "watched",
          client.transport(),
          Doing(client),
          std::to_string(client.turns()),
          NumberOr(client.has_wait_ms(), client.wait_ms(), 1),
          NumberOr(client.has_hold_ms(), client.hold_ms(), 1),
          NumberOr(client.has_compute_ms(), client.compute_ms(), 1),
          NumberOr(client.has_input_wait_ms(), client.input_wait_ms(), 1),
          NumberOr(client.has_step_ms(), client.step_ms(), 1),
          Alone(client),
          Age(client),
          NumberOr(client.has_slowdown(), client.slowdown(), 2, "x"),
          Cap(client)};
}

// Returns a line for each reason why reductions of the client are plain.
std::string PlainReductionsOf(const Client& client) {
  std::string text;
  for (const auto& plain : client.reductions().plain())
    text += "\n" + client.gang() + " rank " + std::to_string(client.rank()) + " has plain reductions, and " +
            client.reductions().asked() + " is asked for: " + plain.words() + "\n";
  return text;
}

}  // namespace

std::string TopTable(const Top& top) {
  std::string text = DaemonLine(top.daemon());
  bool any_remembered = false;
  std::string watched;
  std::string plain;
  bool any_estimated = false;
  bool any_refused = false;
  for (const Gpu& gpu : top.gpus()) {
    text += "\n" + GpuLine(gpu);
    if (gpu.has_signals()) text += SignalsLine(gpu.signals());
    std::vector<std::vector<std::string>> rows = {{"GANG", "RANK", "PID", "PHASE", "TRANSPORT", "NOW",
                                                   "TURNS", "WAIT ms", "HOLD ms", "COMPUTE ms", "INPUT ms",
                                                   "STEP ms", "ALONE ms", "AGE", "SLOWDOWN", "CAP"}};
    for (const auto& job : top.jobs()) {
      for (const Client& client : job.clients()) {
        if (client.gpu_uuid() != gpu.uuid()) continue;
        rows.push_back(RowOf(client));
        if (!client.watched_only().empty())
          watched += "\n" + client.gang() + " rank " + std::to_string(client.rank()) +
                     " takes no turns: " + client.watched_only() + "\n";
        plain += PlainReductionsOf(client);
        any_remembered |= client.alone().source() == "remembered";
        any_refused |= client.max_slowdown_refused();
        any_estimated |= client.alone().source() == "estimated";
      }
    }
    if (rows.size() > 1) text += Columns(rows, "  ");
  }
  if (top.gpus().empty()) text += "\nno job has connected yet\n";
  if (any_remembered) text += "\n* of an earlier process of the same gang, user and size\n";
  if (any_estimated) text += "\n~ estimated from its turns and the gaps between them\n";
  text += watched + plain;
  if (any_refused)
    text +=
        "\n! this cap cannot be kept beside the other jobs of the GPU: the daemon's log "
        "says why\n";
  return text;
}

}  // namespace crossover::cli
