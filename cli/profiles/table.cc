#include "cli/profiles/table.h"

#include <algorithm>
#include <vector>

#include "cli/render/table.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

using node::v1::JobProfile;

constexpr double kMiB = 1 << 20;

std::string Step(const JobProfile& profile) {
  if (!profile.has_step_alone_ms()) return "-";
  const auto& step = profile.step_alone_ms();
  return Number(step.value(), 1) + (step.source() == "estimated" ? " ~" : "");
}

bool Guessed(const JobProfile& profile) { return profile.peak_memory_bytes().source() == "refused"; }

std::string Memory(const JobProfile& profile) {
  return NumberOr(profile.has_peak_memory_bytes(), profile.peak_memory_bytes().value() / kMiB, 0) +
         (Guessed(profile) ? " ?" : "");
}

// Returns the age of what was learned last, or "-".
std::string Age(const JobProfile& profile, double now_s) {
  double learned = 0;
  for (const auto* figure :
       {&profile.compute_ms(), &profile.jitter(), &profile.step_alone_ms(), &profile.peak_memory_bytes()}) {
    learned = std::max(learned, figure->learned_at_s());
  }
  if (learned == 0) return "-";  // the job was never undisturbed
  return Duration(std::max(0.0, now_s - learned));
}

std::vector<std::string> Row(const JobProfile& profile, double now_s) {
  return {profile.gang() + (profile.has_disturbed_at_s() ? " !" : ""),
          std::to_string(profile.uid()),
          profile.size() == 0 ? "-" : std::to_string(profile.size()),
          NumberOr(profile.has_compute_ms(), profile.compute_ms().value(), 1),
          NumberOr(profile.has_away_ms(), profile.away_ms().value(), 1),
          NumberOr(profile.has_jitter(), profile.jitter().value() * 100, 1, "%"),
          Step(profile),
          Memory(profile),
          Age(profile, now_s)};
}

}  // namespace

std::string ProfilesTable(const node::v1::ListProfilesResponse& response, double now_s) {
  if (response.directory().empty()) {
    return "profiles are off: set the key profiles of the daemon's configuration to a folder; the key takes "
           "effect at the daemon's next start\n";
  }
  if (response.profiles().empty()) return "no job has left a profile yet in " + response.directory() + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"GANG", "USER", "RANKS", "C ms", "M ms", "JITTER", "ALONE ms", "MEMORY MiB", "AGE"}};
  bool any_estimated = false, any_disturbed = false, any_guessed = false;
  for (const JobProfile& profile : response.profiles()) {
    rows.push_back(Row(profile, now_s));
    any_estimated |= profile.step_alone_ms().source() == "estimated";
    any_disturbed |= profile.has_disturbed_at_s();
    any_guessed |= Guessed(profile);
  }
  return Columns(rows) + (any_estimated ? "\n~ estimated from its turns and the gaps between them\n" : "") +
         (any_guessed
              ? "\n? not measured: one and a half times the memory budget of the job, which was too small\n"
              : "") +
         (any_disturbed ? "\n! has run beside a process that took no part: meanwhile the daemon learned only "
                          "the job's memory\n"
                        : "");
}

}  // namespace crossover::cli
