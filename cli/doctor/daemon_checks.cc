#include "cli/doctor/daemon_checks.h"

#include <functional>
#include <utility>

#include "cli/render/table.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

using node::v1::Client;
using node::v1::Gpu;
using node::v1::Top;

// A job that has shown no period after this many seconds has none: it learns its period within three
// iterations, and an iteration of a minute is long.
constexpr double kTimeToLearn = 180;
// The two clocks may differ by this many seconds: the kernel records the start of a process in clock ticks,
// and the daemon's uptime begins a little after its start.
constexpr double kClocksDiffer = 0.1;

Finding Say(Verdict verdict, std::string seen, std::string advice = "") {
  return {.name = "", .verdict = verdict, .seen = std::move(seen), .advice = std::move(advice)};
}

Finding IfAsked(const Facts& facts, const std::function<Finding(const Top& top)>& judge) {
  if (facts.daemon == nullptr)
    return Say(Verdict::kUnknown, "no answer of a daemon is known (see api_socket)");
  return judge(*facts.daemon);
}

// Returns the first client in `top` that `wanted` accepts, or null.
const Client* Find(const Top& top, const std::function<bool(const Client& client)>& wanted) {
  for (const auto& job : top.jobs()) {
    for (const Client& client : job.clients()) {
      if (wanted(client)) return &client;
    }
  }
  return nullptr;
}

int ClientsOn(const Top& top, const std::string& uuid) {
  for (const Gpu& gpu : top.gpus()) {
    if (gpu.uuid() == uuid) return static_cast<int>(gpu.clients());
  }
  return 0;
}

std::string Named(const Client& client) {
  return "gang " + client.gang() + " rank " + std::to_string(client.rank()) + " on GPU " + client.gpu_uuid();
}

}  // namespace

Finding DaemonMode(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    const auto& daemon = top.daemon();
    if (daemon.mode() != "enforce" && !daemon.mode_limited_by().empty()) {
      return Say(
          Verdict::kWarn,
          daemon.mode() + "; configured is " + daemon.mode_configured() + "; " + daemon.mode_limited_by(),
          "remove the annotation, or end the maintenance; if the mode stays, run crossover mode "
          "configured (docs/operations.md#off-switches)");
    }
    if (daemon.mode() != daemon.mode_configured()) {
      return Say(Verdict::kWarn,
                 "switched to " + daemon.mode() + "; configured is " + daemon.mode_configured(),
                 "run crossover mode configured to return to the configured mode");
    }
    if (daemon.mode() == "enforce") return Say(Verdict::kOk, "enforce");
    return Say(Verdict::kWarn, daemon.mode() + ", as configured: no job takes turns",
               "set mode: enforce in the daemon's configuration and send it SIGHUP, or in Kubernetes set "
               "deviceplugin.config.mode=enforce of the chart");
  });
}

Finding JobsTakeTurns(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    int taking = 0;
    for (const Gpu& gpu : top.gpus()) {
      if (gpu.clients() < 2) continue;
      if (!gpu.why_no_turns().empty()) {
        return Say(Verdict::kWarn, "GPU " + gpu.uuid() + ": its jobs take no turns: " + gpu.why_no_turns(),
                   "see docs/operations.md#no-turns-are-taken for each reason; with CROSSOVER_LOG=info in a "
                   "job's environment, lines of its log that begin with crossover: say more");
      }
      ++taking;
    }
    if (taking == 0) return Say(Verdict::kOk, "no GPU is shared now");
    return Say(Verdict::kOk,
               "turns are taken on " + std::to_string(taking) + (taking == 1 ? " GPU" : " GPUs"));
  });
}

Finding JobsHavePeriods(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    const Client* client = Find(top, [&top](const Client& each) {
      return !each.learned() && each.connected_s() > kTimeToLearn && ClientsOn(top, each.gpu_uuid()) > 1;
    });
    if (client == nullptr) return Say(Verdict::kOk, "no job keeps its neighbour from taking turns");
    return Say(Verdict::kWarn,
               Named(*client) + " has shown no iterations that repeat in " + Duration(client->connected_s()) +
                   ", so no client on that GPU takes turns" +
                   (client->watched_only().empty() ? "" : ": " + client->watched_only()),
               client->watched_only().empty()
                   ? "wait if the job has not begun to train, or if its iterations take a minute; otherwise "
                     "give it a GPU of its own, as its calls do not repeat"
                   : "remove the reason named here, or give the job a GPU of its own "
                     "(docs/operations.md#no-turns-are-taken)");
  });
}

Finding Offenders(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    const Client* client = Find(top, [](const Client& each) { return each.offender(); });
    if (client == nullptr) return Say(Verdict::kOk, "no job held its turn too long too often");
    return Say(
        Verdict::kWarn,
        Named(*client) +
            " held its turn too long, too often: no turns on that GPU until watchdog.forgive_s have passed "
            "(300 s by default)",
        "look for a stalled input or a debugger in the job; if its long turns are right, raise "
        "watchdog.floor_ms in the daemon's configuration (docs/operations.md#crossoverturnsheldtoolong)");
  });
}

Finding WatchdogOpenings(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    for (const Gpu& gpu : top.gpus()) {
      if (gpu.watchdog_openings() == 0) continue;
      return Say(
          Verdict::kWarn,
          "GPU " + gpu.uuid() + ": " + std::to_string(gpu.watchdog_openings()) +
              " times the watchdog let other clients in, because the holder did not give its turn back",
          "look for \"held its turn too long\" in the daemon's log, which names a holder that does so again "
          "(docs/operations.md#crossoverturnsheldtoolong)");
    }
    return Say(Verdict::kOk, "the watchdog had nothing to do");
  });
}

Finding ClientFaults(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    const Client* client = Find(top, [](const Client& each) { return each.faults() != 0; });
    if (client == nullptr) return Say(Verdict::kOk, "no job had to open its own gate");
    return Say(
        Verdict::kWarn,
        Named(*client) + " opened its own gate " + std::to_string(client->faults()) +
            " times, because no other process opened it",
        "look whether something keeps the daemon from running, such as a CPU limit or a stopped process");
  });
}

// Finds a job whose process is older than the daemon: before the daemon started, the job ran without turns.
Finding DaemonRestarts(const Facts& facts) {
  return IfAsked(facts, [&facts](const Top& top) {
    const double up = top.daemon().uptime_s();
    const Client* client = Find(top, [&](const Client& each) {
      const auto age = facts.process_age_s.find(each.pid());
      return age != facts.process_age_s.end() && age->second > up + kClocksDiffer;
    });
    if (client == nullptr) return Say(Verdict::kOk, "the daemon has run for " + Duration(up));
    return Say(Verdict::kWarn,
               "the daemon has run for " + Duration(up) + ", less than the process of " + Named(*client) +
                   ": the daemon was restarted while the job ran, or started after the job",
               "if a daemon ran before, the end of its log says why it ended");
  });
}

Finding DroppedEvents(const Facts& facts) {
  return IfAsked(facts, [](const Top& top) {
    const std::uint32_t dropped = top.daemon().events_dropped();
    if (dropped == 0) return Say(Verdict::kOk, "no event was dropped");
    return Say(Verdict::kWarn,
               std::to_string(dropped) + " events were dropped: figures and traces lack these events",
               "give the daemon more processor time: the processors of the machine are too busy; turns are "
               "not affected");
  });
}

}  // namespace crossover::cli
