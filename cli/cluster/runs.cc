#include "cli/cluster/runs.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "common/gains/balance.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

using api::JobProfile;

// Returns which share of the time the run needs the GPU and, if it is on several nodes, the link; 0 for what
// is not known. Uses the run's own times, else those of the profile, which are of its runs or else of its
// user.
gains::Use UseOf(const JobProfile::Run& run, const JobProfile& profile, double link_bytes_per_s) {
  const bool own = run.compute_s > 0;
  const double compute = own ? run.compute_s : profile.compute_s;
  const double away = own ? run.exposed_s : profile.exposed_s;
  if (compute <= 0) return {};
  gains::Use use{.gpu = compute / (compute + away)};
  if (link_bytes_per_s > 0 && run.nodes > 1)
    use.link = std::min(1.0, profile.link_bytes / link_bytes_per_s / (compute + away));
  return use;
}

std::optional<SlowRank> SlowRankOf(const JobProfile::Run& run) {
  const JobProfile::Slowest& slowest = run.slowest;
  const double step = run.compute_s + run.exposed_s;
  if (slowest.since_s <= 0 || run.median_s <= 0 || slowest.compute_s <= run.median_s || step <= 0)
    return std::nullopt;
  return SlowRank{.pod = slowest.pod,
                  .node = slowest.node,
                  .since = kube::WriteTimestamp(slowest.since_s),
                  .compute_s = slowest.compute_s,
                  .median_s = run.median_s,
                  .cost = std::min(1.0, (slowest.compute_s - run.median_s) / step)};
}

std::optional<LongInput> LongInputOf(const JobProfile::Run& run) {
  const JobProfile::InputWait& wait = run.input;
  const double step = run.compute_s + run.exposed_s;
  if (wait.pod.empty() || step <= 0 || wait.seconds < gains::kWorth * step) return std::nullopt;
  return LongInput{.pod = wait.pod,
                   .node = wait.node,
                   .seconds = wait.seconds,
                   .cost = std::min(1.0, wait.seconds / step)};
}

// Returns the gangs that are known to have shared a GPU with another gang.
std::set<std::string> GangsThatMet(const std::vector<JobProfile>& profiles) {
  std::set<std::string> met;
  for (const JobProfile& profile : profiles) {
    for (const JobProfile::Meeting& meeting : profile.meetings) {
      for (const JobProfile::Gain& gain : meeting.gains) met.insert({gain.gang, gain.other});
    }
  }
  return met;
}

// Merges two reports of one run. They come from two profiles, because the run's profile key changed. The
// report that saw the run last wins.
void Join(Run told, Run* run) {
  if (std::tie(run->ended, run->gpus) < std::tie(told.ended, told.gpus)) std::swap(told, *run);
  if (run->use.gpu <= 0) run->use = told.use;
  run->shared |= told.shared;
}

}  // namespace

std::map<std::string, RunsByStart> RunsToldOf(const std::vector<JobProfile>& profiles,
                                              double link_bytes_per_s) {
  const std::set<std::string> met = GangsThatMet(profiles);
  std::map<std::string, RunsByStart> runs;
  for (const JobProfile& profile : profiles) {
    for (const JobProfile::Run& told : profile.runs) {
      if (told.began_s <= 0 || told.at_s <= 0) continue;
      // If the run does not say whether it shared, its gang counts, which may have shared in another run.
      const Run run{.gang = told.gang,
                    .gpus = told.gpus,
                    .began = told.began_s,
                    .ended = told.at_s,
                    .last_seen = kube::WriteTimestamp(told.at_s),
                    .use = UseOf(told, profile, link_bytes_per_s),
                    .shared = told.shared.value_or(met.contains(told.gang)),
                    .slow = SlowRankOf(told),
                    .input = LongInputOf(told)};
      const auto [known, is_new] = runs[profile.name_space].try_emplace({run.gang, run.began}, run);
      if (!is_new) Join(run, &known->second);
    }
  }
  return runs;
}

std::vector<Run> RunsAlone(const RunsByStart& told, double since_s) {
  std::vector<Run> runs;
  for (auto [start, run] : told) {
    run.began = std::max(run.began, since_s);
    if (!run.shared && run.gpus > 0 && run.ended > run.began) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace crossover::cli
