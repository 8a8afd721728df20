// The administrator's live switch over a daemon.
#pragma once

#include <optional>

#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/turn_limits.h"

namespace crossover::deviceplugin {

class ModeSwitch {
 public:
  struct State {
    arbiter::Policy in_force = arbiter::Policy::kEnforce;
    arbiter::Policy configured = arbiter::Policy::kEnforce;
    TurnLimits limits;
  };
  virtual ~ModeSwitch() = default;

  // All of these from any thread.
  virtual State mode() const = 0;
  // `policy` is in force from now on, until the next call: also over a configuration that is read again, but
  // not beyond the limits. Without one, what the configuration says. Returns what was in force before;
  // nothing when it is too late, because the daemon stops.
  virtual std::optional<arbiter::Policy> Switch(std::optional<arbiter::Policy> policy) = 0;
};

}  // namespace crossover::deviceplugin
