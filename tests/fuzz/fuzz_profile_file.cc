// libs: crossover_profiles
// Reads the file of a job's profile. A text is either refused with a line that names the file, or what
// comes out is within bounds, and reads as the same again when it is printed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/profiles/profile_messages.h"

namespace {

using namespace crossover;
using namespace crossover::deviceplugin;

constexpr Clocks kNow = {.monotonic = 5'000'000'000, .wall = 1'800'000'000'000'000'000};

void Check(const JobProfile& profile) {
  std::string error;
  bool good = arbiter::ValidGangName(profile.job.gang);
  good &= profile.empty() || profile.newest() <= kNow.monotonic;
  good &= !profile.compute || profile.demand().known();
  const std::string name = ProfileFileName(profile.job);
  good &= name.size() < 200 && name.find('/') == std::string::npos;
  good &= ParseProfile(ProfileText(profile, kNow), "f", kNow, &error) == profile;
  if (!good) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  const auto profile = ParseProfile({reinterpret_cast<const char*>(data), size}, "f", kNow, &error);
  if (profile) Check(*profile);
  if (!profile && (error.compare(0, 3, "f: ") != 0 || error.find('\n') != std::string::npos))
    __builtin_trap();
  return 0;
}
