// Reads and writes what GPUNodes and JobProfiles say of communication. Pure. No function here throws,
// whatever an object contains.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/api/communication.h"

namespace crossover::api {

// Returns the calls that a job of a GPUNode names (`communication`). Leaves out each one that exceeds a limit
// or contradicts itself, and all of them if there are more than kMostCallsOfJob.
std::vector<NcclCall> CallsOf(const nlohmann::json& job);

// Reads `communication` of a JobProfile's status. Returns one without groups if any part of it is malformed
// or exceeds a limit: half of it would say something else.
Communication CommunicationOf(const nlohmann::json& status);

// Return a call and a communication in the form that they have in those objects.
nlohmann::json WriteCall(const NcclCall& call);
nlohmann::json WriteCommunication(const Communication& communication);

}  // namespace crossover::api
