// What keeps turns from being taken beside the configuration and the administrator's switch.
#pragma once

#include <map>
#include <string>

#include "deviceplugin/arbiter/mode_rule.h"

namespace crossover::deviceplugin {

struct TurnLimits {
  arbiter::Policy policy = arbiter::Policy::kEnforce;  // at most, on this machine
  std::string by;                                      // who says so; empty where nobody does
  std::map<std::string, std::string> held;             // GPUs without turns, by UUID, and why

  friend bool operator==(const TurnLimits&, const TurnLimits&) = default;
};

// A daemon, for whoever knows of such limits. All of these from any thread.
class Limited {
 public:
  virtual ~Limited() = default;
  // In force until the next call.
  virtual void Limit(TurnLimits limits) = 0;
  // What clients may do has changed: see arbiter::IdentitySource.
  virtual void Review() = 0;
  // Reads the configuration again, as at SIGHUP.
  virtual void RequestReload() = 0;
};

}  // namespace crossover::deviceplugin
