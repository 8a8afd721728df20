// Reads and writes JobProfiles as the API server has them. Pure; nothing here throws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "extender/profiles/record.h"

namespace crossover::extender {

// Returns the name of a new object for `key`: the key as far as object names allow it, and a hash of the
// whole key.
std::string ProfileNameOf(const std::string& key);

// Returns the key and the record in `object`; trusts nothing in it. The key is what the spec says, or else
// the object's name. Returns nothing if the object has no name or namespace.
std::optional<std::pair<ProfileId, ProfileRecord>> ParseRecord(const nlohmann::json& object);

// Return the bodies for server-side apply: of the object without its status, and of the status of the
// object that the record names.
nlohmann::json ObjectBody(const ProfileId& id, const std::string& name);
nlohmann::json StatusBody(const ProfileId& id, const ProfileRecord& record, const ProfileSettings& settings);

}  // namespace crossover::extender
