// Takes a gang through its states: it gathers its pods, waits for a plan, has it carried out, keeps its
// seats. Pure.
#pragma once

#include <string>

#include "extender/gang/desk.h"

namespace crossover::extender {

// Does everything that can be done now for the gang with this id. Forgets the gang when none of its pods is
// left.
void Advance(Desk& desk, const std::string& id);

}  // namespace crossover::extender
