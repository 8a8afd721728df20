#include "cli/cluster/runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "cli/cluster/objects.h"
#include "common/gains/balance.h"
#include "common/kube/json.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

using kube::At;

// Returns which share of the time the run needs the GPU and, if it is on several nodes, the link; 0 for what
// is not known. Uses the run's own times, else those of the profile's runs, else those that a user wrote into
// the spec.
gains::Use UseOf(const json& run, const json& profile, double link_bytes_per_s) {
  for (const json* figures : {&run, &At(profile, "status"), &At(profile, "spec")}) {
    const double compute = NumberAt(*figures, "computeSeconds"), away = NumberAt(*figures, "exposedSeconds");
    if (compute <= 0 || away < 0) continue;
    gains::Use use{.gpu = compute / (compute + away)};
    if (link_bytes_per_s > 0 && CountAt(run, {}, "nodes") > 1) {
      const auto bytes = static_cast<double>(CountAt(profile, {"status"}, "linkBytes"));
      use.link = std::min(1.0, bytes / link_bytes_per_s / (compute + away));
    }
    return use;
  }
  return {};
}

std::optional<SlowRank> SlowRankOf(const json& run) {
  const json& slowest = At(run, "slowest");
  SlowRank slow{.pod = TextAt(slowest, {"pod"}),
                .node = TextAt(slowest, {"node"}),
                .since = TextAt(slowest, {"since"}),
                .compute_s = NumberAt(slowest, "computeSeconds"),
                .median_s = NumberAt(run, "medianSeconds"),
                .cost = 0};
  const double step = NumberAt(run, "computeSeconds") + NumberAt(run, "exposedSeconds");
  if (slow.since.empty() || slow.median_s <= 0 || slow.compute_s <= slow.median_s || step <= 0)
    return std::nullopt;
  slow.cost = std::min(1.0, (slow.compute_s - slow.median_s) / step);
  return slow;
}

std::optional<LongInput> LongInputOf(const json& run) {
  const json& wait = At(run, "inputWait");
  LongInput input{.pod = TextAt(wait, {"pod"}),
                  .node = TextAt(wait, {"node"}),
                  .seconds = NumberAt(wait, "seconds"),
                  .cost = 0};
  const double step = NumberAt(run, "computeSeconds") + NumberAt(run, "exposedSeconds");
  if (input.pod.empty() || step <= 0 || input.seconds < gains::kWorth * step) return std::nullopt;
  input.cost = std::min(1.0, input.seconds / step);
  return input;
}

// Returns the gangs that are known to have shared a GPU with another gang.
std::set<std::string> GangsThatMet(const json& profiles) {
  std::set<std::string> met;
  for (const json& profile : profiles) {
    for (const json& meeting : ListAt(profile, {"status", "meetings"})) {
      for (const json& gain : ListAt(meeting, {"gains"})) {
        met.insert(TextAt(gain, {"gang"}));
        met.insert(TextAt(gain, {"otherGang"}));
      }
    }
  }
  return met;
}

// Returns whether the run shared. If the run does not say it, returns whether its gang ever shared, which may
// have been in another run.
bool HasShared(const json& run, const std::set<std::string>& met) {
  const json& says = At(run, "shared");
  return says.is_boolean() ? says.get<bool>() : met.contains(TextAt(run, {"gang"}));
}

// Merges two reports of one run. They come from two profiles, because the run's profile key changed. The
// report that saw the run last wins.
void Join(Run told, Run* run) {
  if (std::tie(run->ended, run->gpus) < std::tie(told.ended, told.gpus)) std::swap(told, *run);
  if (run->use.gpu <= 0) run->use = told.use;
  run->shared |= told.shared;
}

}  // namespace

std::map<std::string, RunsByStart> RunsToldOf(const json& profiles, double link_bytes_per_s) {
  const std::set<std::string> met = GangsThatMet(profiles);
  std::map<std::string, RunsByStart> runs;
  for (const json& profile : profiles) {
    for (const json& object : ListAt(profile, {"status", "runs"})) {
      const auto began = kube::ParseTimestamp(TextAt(object, {"beganAt"}));
      const auto ended = kube::ParseTimestamp(TextAt(object, {"lastSeen"}));
      if (!began || !ended) continue;
      const Run run{.gang = TextAt(object, {"gang"}),
                    .gpus = CountAt(object, {}, "gpus"),
                    .began = *began,
                    .ended = *ended,
                    .last_seen = TextAt(object, {"lastSeen"}),
                    .use = UseOf(object, profile, link_bytes_per_s),
                    .shared = HasShared(object, met),
                    .slow = SlowRankOf(object),
                    .input = LongInputOf(object)};
      const auto [known, is_new] = runs[NamespaceOf(profile)].try_emplace({run.gang, *began}, run);
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
