// Converts profiles to messages, and to and from the text of a file. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/profiles/job_profile.h"

namespace crossover::node::v1 {
class JobProfile;
}

namespace crossover::deviceplugin {

// Clocks holds one instant on both clocks, in ns, to convert between them: messages have wall-clock time, and
// the daemon uses the monotonic clock.
struct Clocks {
  turn::Time monotonic = 0;
  turn::Time wall = 0;  // since 1970
  static Clocks Now();
};

void Fill(const JobProfile& profile, const Clocks& now, node::v1::JobProfile* message);

std::string ProfileText(const JobProfile& profile, const Clocks& now);
// Returns the profile in `text`, or nothing if a value is refused. `error` then holds one line with `name`,
// the name of the file, the key, what is expected and the value. An instant in the future becomes the
// present. Keys that it does not know are skipped: a newer daemon may have written them.
std::optional<JobProfile> ParseProfile(std::string_view text, const std::string& name, const Clocks& now,
                                       std::string* error);

// Returns the file name of a job. Different jobs have different names. Bytes of the gang's name other than
// letters, digits, '-', '_' and '.' are escaped. A very long name is cut and gets a hash of the whole.
std::string ProfileFileName(const JobKey& job);

}  // namespace crossover::deviceplugin
