// What an arbiter is told at its start, and what it may be told again while it runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "deviceplugin/arbiter/listener.h"
#include "deviceplugin/arbiter/mode_rule.h"
#include "turn/turnstile.h"

namespace crossover::arbiter {

struct Limits {
  std::uint32_t connections = 1024;
  std::uint32_t connections_per_user = 128;
  std::uint32_t gpus = 64;
  turn::Time hello_within = base::kNsPerSecond;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// In force from the moment the arbiter is told.
struct LiveSettings {
  Policy policy = Policy::kEnforce;
  turn::Settings turn;
  // Whether the jobs of a GPU may be let run side by side, or one after the other, where that is faster
  // (docs/design/0006-guard.md).
  bool guard = true;
  // UUIDs of the GPUs whose turns are kept; unset: any that a client names. Clients that are on a GPU already
  // stay there.
  std::optional<std::vector<std::string>> gpus;
  // On which no turns are taken for now, by UUID, and why.
  std::map<std::string, std::string> held;
};

struct Settings {
  SocketSettings socket;
  Limits limits;
  LiveSettings live;
};

}  // namespace crossover::arbiter
