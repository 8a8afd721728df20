// Defines limits on turns that come from the cluster. They hold in addition to the mode of the configuration
// and to the mode that `crossover mode` sets.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "deviceplugin/arbiter/mode_rule.h"

namespace crossover::deviceplugin {

struct TurnLimits {
  arbiter::Policy policy = arbiter::Policy::kEnforce;  // highest mode allowed on this machine
  std::string by;                                      // what sets `policy`, in words; empty: no limit
  std::map<std::string, std::string> held;             // GPUs without turns: UUID and reason
  // Says whether the node is in maintenance: then no process of ours may use a GPU without clients. It is
  // unset while that is not known.
  std::optional<bool> maintenance{};

  friend bool operator==(const TurnLimits&, const TurnLimits&) = default;
};

// A TurnLimiter is a daemon as seen by the code that sets such limits. Any thread may call these functions.
class TurnLimiter {
 public:
  virtual ~TurnLimiter() = default;
  // Puts `limits` in force until the next call.
  virtual void Limit(TurnLimits limits) = 0;
  // Reports that the answers of arbiter::IdentitySource::PermissionsOf() may have changed.
  virtual void Review() = 0;
  // Makes the daemon read the configuration again, as SIGHUP does. Returns before that is done.
  virtual void RequestReload() = 0;
};

}  // namespace crossover::deviceplugin
