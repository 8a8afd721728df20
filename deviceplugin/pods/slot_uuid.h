// Finds the GPU of a slot from the slot's device ID: "GPU-<uuid>::<slot>" without the slot.
#pragma once

#include <string>

namespace crossover::deviceplugin {

inline std::string UuidOfSlot(const std::string& id) { return id.substr(0, id.find("::")); }

}  // namespace crossover::deviceplugin
