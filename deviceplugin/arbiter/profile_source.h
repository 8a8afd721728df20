// Tells the arbiter what the job of a new client needed when it ran before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "turn/fair_share.h"

namespace crossover::arbiter {

// The arbiter's thread calls these functions: implementations must neither block nor do I/O.
class ProfileSource {
 public:
  virtual ~ProfileSource() = default;
  // Returns the demand of a job, or nothing if the job is not known.
  virtual std::optional<turn::Demand> Find(const std::string& gang, std::uint32_t uid,
                                           std::uint32_t size) const = 0;
};

}  // namespace crossover::arbiter
