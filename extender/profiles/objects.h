// Writes JobProfiles as the API server has them, from the parts that common/api writes. Pure; nothing here
// throws. api::ParseJobProfile() reads them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "extender/cluster/model.h"
#include "extender/profiles/record.h"

namespace crossover::extender {

// Returns the name of a new object for `key`: the key as far as object names allow it, and a hash of the
// whole key.
std::string ProfileNameOf(const std::string& key);

// Returns what ProfileKeeper keeps of `profile`. Leaves out meetings without a key or without gains, and
// those above kMostMeetings.
std::pair<ProfileId, ProfileRecord> RecordOf(JobProfile profile);

// Return the bodies for server-side apply: of the object without its status, and of the status of the
// object that the record names.
nlohmann::json ObjectBody(const ProfileId& id, const std::string& name);
nlohmann::json StatusBody(const ProfileId& id, const ProfileRecord& record, const ProfileSettings& settings);

}  // namespace crossover::extender
