// Lets an administrator change the mode of a running daemon.
#pragma once

#include <optional>

#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/switches/turn_limits.h"

namespace crossover::deviceplugin {

// A ModeSwitch is a daemon as seen by the code that changes its mode. Any thread may call these functions.
class ModeSwitch {
 public:
  struct State {
    arbiter::Policy in_force = arbiter::Policy::kEnforce;
    arbiter::Policy configured = arbiter::Policy::kEnforce;
    TurnLimits limits;
  };
  virtual ~ModeSwitch() = default;

  virtual State mode() const = 0;
  // Puts `policy` in force until the next call. It overrides the configuration, also when that is read again,
  // but not the limits: the stricter of the two holds. Without a policy, the configuration's mode is in force
  // again. Returns the mode that was in force before, or nothing if the daemon is stopping.
  virtual std::optional<arbiter::Policy> Switch(std::optional<arbiter::Policy> policy) = 0;
};

}  // namespace crossover::deviceplugin
