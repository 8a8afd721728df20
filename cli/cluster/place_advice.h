// Says what jobs would gain if their pods were placed by what they send to each other. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Returns for the latest run of each gang since `since_s` (Unix seconds) that is not on one node alone, the
// costliest first:
//
//   {"namespace", "gang", "lastSeen", "uplinkSeconds", "leastUplinkSeconds", "stepSeconds", "gain"}
//
// or {"namespace", "gang", "lastSeen", "why"}, if a gain cannot be told. Seconds are of one iteration: those
// of the busiest uplink of a node, as the pods are placed and as they would be, and those of a step of the
// job alone. The gain is that of common/gains/place.h. `profiles` are JobProfiles with any content.
nlohmann::json PlaceAdvice(const nlohmann::json& profiles, double since_s);

// Returns a line for each gang that would gain 3% or more, and with `wide` for the gangs whose gain is not
// known.
std::string PlaceText(const nlohmann::json& advice, bool wide);

}  // namespace crossover::cli
