// What of the JobProfiles is to be written. Pure.
#pragma once

#include <vector>

#include "extender/profiles/record.h"

namespace crossover::extender {

struct ProfileChange {
  enum class Kind : std::uint8_t { kCreate, kStatus, kRemove };
  Kind kind = Kind::kStatus;
  ProfileId id;
  ProfileRecord record;  // as it is to be; its name is set
};

// `known`: as they were written last; `merged`: as they should be, all of `known` among them. Those that no
// job has used for long are removed, but not where their user wrote figures into them, and not made again.
std::vector<ProfileChange> ChangesOf(const ProfileRecords& known, const ProfileRecords& merged, double now_s,
                                     const ProfileSettings& settings);

}  // namespace crossover::extender
