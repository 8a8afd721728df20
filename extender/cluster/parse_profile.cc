#include <algorithm>
#include <array>

#include "extender/cluster/fields.h"
#include "extender/cluster/parse.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::ListAt;
using nlohmann::json;

constexpr std::int64_t kMostGpus = 1 << 20;
constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;  // of GPU memory; small enough for sums to fit

// Reads the times from `figures`, which is the spec (hints of a user) or the status (measurements). Returns
// false and changes nothing where it has no compute time.
bool ReadFigures(const json& figures, JobProfile* profile) {
  const double compute = RealAt(figures, "computeSeconds");
  if (compute <= 0) return false;
  profile->compute_s = compute;
  profile->exposed_s = RealAt(figures, "exposedSeconds");
  return true;
}

}  // namespace

bool HasHints(const json& spec) {
  constexpr std::array<const char*, 3> kHints = {"computeSeconds", "exposedSeconds", "peakMemoryBytes"};
  return std::any_of(kHints.begin(), kHints.end(),
                     [&spec](const char* hint) { return !At(spec, hint).is_null(); });
}

std::optional<JobProfile> ParseJobProfile(const json& object) {
  const json& metadata = At(object, "metadata");
  const json& spec = At(object, "spec");
  const json& status = At(object, "status");
  JobProfile profile;
  profile.name_space = TextAt(metadata, "namespace");
  profile.name = TextAt(metadata, "name");
  if (profile.name_space.empty() || profile.name.empty()) return std::nullopt;
  profile.key = TextAt(spec, "key");
  if (profile.key.empty()) profile.key = profile.name;
  if (!ReadFigures(status, &profile)) profile.hinted = ReadFigures(spec, &profile);
  profile.has_hints = HasHints(spec);
  profile.jitter = RealAt(status, "jitter");
  const std::int64_t peak = WholeAt(status, "peakMemoryBytes", 0, kMostBytes);
  profile.peak_memory =
      static_cast<std::uint64_t>(peak > 0 ? peak : WholeAt(spec, "peakMemoryBytes", 0, kMostBytes));
  profile.gpus = static_cast<int>(WholeAt(status, "gpus", 0, kMostGpus));
  for (const json& meeting : ListAt(status, "meetings")) {
    const double gain = RealAt(meeting, "gain");
    if (gain <= 0) continue;
    profile.meetings.push_back(
        {.name_space = TextAt(meeting, "namespace"), .key = TextAt(meeting, "key"), .gain = gain});
  }
  return profile;
}

}  // namespace crossover::extender
