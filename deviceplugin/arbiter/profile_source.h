// Whom the arbiter asks what a newcomer's job needed before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "turn/shares.h"

namespace crossover::arbiter {

// Called on the arbiter's thread: implementations must neither block nor do I/O.
class ProfileSource {
 public:
  virtual ~ProfileSource() = default;
  // Nothing of a job that is not known.
  virtual std::optional<turn::Demand> Find(const std::string& gang, std::uint32_t uid,
                                           std::uint32_t size) const = 0;
};

}  // namespace crossover::arbiter
