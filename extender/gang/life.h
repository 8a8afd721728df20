// One gang's next steps: gather its pods, wait for a plan, have it carried out, keep its seats. Pure.
#pragma once

#include <string>

#include "extender/gang/desk.h"

namespace crossover::extender {

// Everything that can be done for it now. It is forgotten when none of its pods is left.
void Advance(Desk& desk, const std::string& id);

}  // namespace crossover::extender
