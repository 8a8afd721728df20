// JobProfiles as the API server has them. Pure; nothing in it throws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "extender/profiles/record.h"

namespace crossover::extender {

// Of the object for a key that has none yet: the key as far as names of objects go, and a hash of the whole.
std::string ProfileNameOf(const std::string& key);

// `object`: of which nothing is trusted. Its key is what its spec says, or its name. Nothing for what lacks
// its names.
std::optional<std::pair<ProfileId, ProfileRecord>> ParseRecord(const nlohmann::json& object);

// As server-side applies have them: the object alone, and its status, of an object of that name.
nlohmann::json ObjectBody(const ProfileId& id, const std::string& name);
nlohmann::json StatusBody(const ProfileId& id, const ProfileRecord& record, const ProfileSettings& settings);

}  // namespace crossover::extender
