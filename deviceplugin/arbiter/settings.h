// Defines the settings of an arbiter: those of its start, and those that may change while it runs.
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

// LiveSettings take effect as soon as the arbiter gets them.
struct LiveSettings {
  Policy policy = Policy::kEnforce;
  turn::Settings turn;
  // Lets the guard run the jobs of a GPU side by side, or one after the other, if that is faster
  // (docs/design/0006-guard.md).
  bool guard = true;
  // Holds the UUIDs of the GPUs that clients may join. If it is unset, clients may name any GPU. A change
  // does not affect clients that have joined already.
  std::optional<std::vector<std::string>> gpus;
  // On these GPUs no turns are taken for now: the UUID and the reason.
  std::map<std::string, std::string> held;
};

struct Settings {
  SocketSettings socket;
  Limits limits;
  LiveSettings live;
};

}  // namespace crossover::arbiter
