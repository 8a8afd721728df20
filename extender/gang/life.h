// One gang's next steps: gather its pods, wait for a plan, have it carried out, keep its seats. Pure.
#pragma once

#include <string>

#include "extender/gang/desk.h"

namespace crossover::extender {

// What a user reads begins so while the pod is not to be placed yet.
inline constexpr char kWaits[] = "crossover: waits: ";
// What follows where the node of its GPUs was not among those that its scheduler asked about.
inline std::string NotThere(const std::string& node) {
  return "the scheduler would not have it on " + node + ", where its GPUs are";
}

// Everything that can be done for it now. It is forgotten when none of its pods is left.
void Advance(Desk& desk, const std::string& id);

}  // namespace crossover::extender
