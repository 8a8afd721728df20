// Defines the interface to the API server that the gang logic uses.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "extender/gang/actions.h"

namespace crossover::extender {

// An Api is thread-safe. Write() and Read() block until the API server answers.
class Api {
 public:
  virtual ~Api() = default;

  // Carries out an action, and returns what came of it. REQUIRES: its kind has a result and is not
  // kReadOwner.
  virtual Result Write(const Action& action) = 0;
  // Returns the object. If it cannot be read, returns null and sets `error` to the reason.
  virtual nlohmann::json Read(const OwnerRef& owner, std::string* error) = 0;
  // Records an event later, on another thread; never blocks. Events beyond TellRoom() may be lost.
  virtual void Tell(const Action& action) = 0;
  // Returns how many more events there is room for now.
  virtual std::size_t TellRoom() = 0;
};

}  // namespace crossover::extender
