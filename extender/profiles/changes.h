// Decides which JobProfiles must be written. Pure.
#pragma once

#include <vector>

#include "extender/profiles/record.h"

namespace crossover::extender {

// A ProfileChange is one write of a JobProfile.
struct ProfileChange {
  enum class Kind : std::uint8_t { kCreate, kStatus, kRemove };
  Kind kind = Kind::kStatus;
  ProfileId id;
  ProfileRecord record;  // the record to write; its name is set
};

// Returns the writes that turn `known`, the records as last written, into `merged`, which has all of
// `known`. Changes that are too small are left out. A profile that no job has used for long is removed,
// unless its user wrote figures into it, and is not created again.
std::vector<ProfileChange> ChangesOf(const ProfileRecords& known, const ProfileRecords& merged, double now_s,
                                     const ProfileSettings& settings);

}  // namespace crossover::extender
