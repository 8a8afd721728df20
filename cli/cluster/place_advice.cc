#include "cli/cluster/place_advice.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/gains/balance.h"
#include "common/gains/place.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

// A Latest is the latest run of a gang, with the profile that tells of it.
struct Latest {
  const api::JobProfile::Run* run = nullptr;
  const api::JobProfile* profile = nullptr;
};

std::string WhyNot(const api::JobProfile::Run& run, const api::JobProfile& profile) {
  if (run.nodes == 0) return "expected the number of its nodes, got none: an older extender wrote the run";
  if (profile.communication.runs < 2)
    return "expected two runs in a row that agree on what their pods send, got " +
           std::to_string(profile.communication.runs);
  return "expected uplinkSeconds of its run, got none: the extender writes it if the GPUNodes of all its "
         "nodes have linkBytesPerSecond (set deviceplugin.config.node.link_gbps), and if the run sends what "
         "the runs before it sent";
}

json Judged(const api::JobProfile::Run& run, const api::JobProfile& profile, json advice) {
  const double input_s = std::min(run.input.seconds, run.exposed_s);
  if (run.uplink_s <= 0 || run.least_uplink_s > run.uplink_s) {
    advice["why"] = WhyNot(run, profile);
  } else if (run.compute_s <= 0) {
    advice["why"] = "expected computeSeconds and exposedSeconds of its run, got none";
  } else {
    advice.update({{"uplinkSeconds", run.uplink_s},
                   {"leastUplinkSeconds", run.least_uplink_s},
                   {"stepSeconds", run.compute_s + run.exposed_s},
                   // Other seats make no wait for input shorter, so the wait counts as compute.
                   {"gain", gains::GainOfPlace(run.compute_s + input_s, run.exposed_s - input_s, run.uplink_s,
                                               run.least_uplink_s)}});
  }
  return advice;
}

}  // namespace

json PlaceAdvice(const json& profiles, double since_s) {
  const std::vector<api::JobProfile> parsed = ParsedProfiles(profiles);
  std::map<std::pair<std::string, std::string>, Latest> gangs;
  for (const api::JobProfile& profile : parsed) {
    for (const api::JobProfile::Run& run : profile.runs) {
      if (run.at_s <= since_s || run.nodes == 1) continue;
      Latest& latest = gangs[{profile.name_space, run.gang}];
      if (latest.run == nullptr || run.at_s > latest.run->at_s) latest = {.run = &run, .profile = &profile};
    }
  }
  std::vector<json> judged;
  for (const auto& [name, latest] : gangs) {
    judged.push_back(Judged(*latest.run, *latest.profile,
                            {{"namespace", name.first},
                             {"gang", name.second},
                             {"lastSeen", kube::WriteTimestamp(latest.run->at_s)}}));
  }
  std::ranges::stable_sort(
      judged, [](const json& a, const json& b) { return NumberAt(a, "gain") > NumberAt(b, "gain"); });
  return judged;
}

std::string PlaceText(const json& advice, bool wide) {
  std::string text;
  for (const json& gang : advice) {
    const std::string name = TextAt(gang, {"gang"});
    if (const std::string why = TextAt(gang, {"why"}); !why.empty()) {
      if (wide) text += name + ": not known, " + why + "\n";
      continue;
    }
    const double gain = NumberAt(gang, "gain");
    if (gain < 1 + gains::kWorth) continue;
    text +=
        name + ": the busiest uplink of a node carries its bytes for " + InMs(gang, "uplinkSeconds") +
        " ms of a step of " + InMs(gang, "stepSeconds") + " ms, and for " + InMs(gang, "leastUplinkSeconds") +
        " ms if its pods are placed by what they send. A step is " + Number(gain, 2) +
        " times as fast then. The next run of the job is placed so, unless constraints between its pods or "
        "unequal GPUs decide." +
        LastSeen(gang) + "\n";
  }
  return text;
}

}  // namespace crossover::cli
