// The API server, as far as gangs write to it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "extender/gang/actions.h"

namespace crossover::extender {

// Thread-safe; a call may take as long as an API server does.
class Api {
 public:
  virtual ~Api() = default;

  // An action that has a result, kReadOwner excepted.
  virtual Result Write(const Action& action) = 0;
  // Null and why, where it cannot be read.
  virtual nlohmann::json Read(const OwnerRef& owner, std::string* error) = 0;
  // Never waits. Past TellRoom() it may be lost.
  virtual void Tell(const Action& action) = 0;
  virtual std::size_t TellRoom() = 0;
};

}  // namespace crossover::extender
