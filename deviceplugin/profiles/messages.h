// Profiles as messages, and as the text of a file. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/profiles/job_profile.h"

namespace crossover::node::v1 {
class JobProfile;
}

namespace crossover::deviceplugin {

// One instant on both clocks, nanoseconds: messages have wall-clock time, the daemon the monotonic clock.
struct Clocks {
  turn::Time monotonic = 0;
  turn::Time wall = 0;  // since 1970
  static Clocks Now();
};

void Fill(const JobProfile& profile, const Clocks& now, node::v1::JobProfile* message);

std::string ProfileText(const JobProfile& profile, const Clocks& now);
// Nothing when anything in `text` is not allowed; `error` then is one line that begins with `name`, the
// file's, and says which key has which value and what is allowed. Instants in the future are taken for now.
std::optional<JobProfile> ParseProfile(std::string_view text, const std::string& name, const Clocks& now,
                                       std::string* error);

// The file of a job, within the directory: the same for the same job only. A name's bytes that are none of
// letters, digits, '-', '_' and '.' are escaped, and very long ones are cut, with a hash of the whole.
std::string ProfileFileName(const JobKey& job);

}  // namespace crossover::deviceplugin
