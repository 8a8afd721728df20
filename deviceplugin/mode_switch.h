// Lets an administrator change the mode of a running daemon.
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

  // Any thread may call these functions.
  virtual State mode() const = 0;
  // Puts `policy` in force until the next call. It also overrides a configuration that is read again, but
  // not the limits. Without a policy, the configuration's mode is in force again. Returns what was in force
  // before, or nothing when the daemon is stopping.
  virtual std::optional<arbiter::Policy> Switch(std::optional<arbiter::Policy> policy) = 0;
};

}  // namespace crossover::deviceplugin
