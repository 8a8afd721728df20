#include "cli/cluster/place_advice.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/gains/balance.h"
#include "common/gains/place.h"
#include "common/kube/json.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

// A Latest is the latest run of a gang, with the profile that tells of it.
struct Latest {
  const json* run = nullptr;
  const json* profile = nullptr;
  double seen_s = 0;
};

std::string WhyNot(const json& run, const json& profile) {
  const auto agreed = CountAt(profile, {"status", "communication"}, "runs");
  if (CountAt(run, {}, "nodes") == 0)
    return "expected the number of its nodes, got none: an older extender wrote it";
  if (agreed < 2)
    return "expected two runs in a row that agree on what their pods send, got " + std::to_string(agreed);
  return "expected GPUNodes that tell linkBytesPerSecond for all of its nodes, got others (node.link_gbps)";
}

json Judged(const json& run, const json& profile, json advice) {
  const double compute_s = NumberAt(run, "computeSeconds"), exposed_s = NumberAt(run, "exposedSeconds");
  const double uplink_s = NumberAt(run, "uplinkSeconds"), least_s = NumberAt(run, "leastUplinkSeconds");
  const double input_s =
      std::clamp(NumberAt(kube::At(run, "inputWait"), "seconds"), 0.0, std::max(0.0, exposed_s));
  if (uplink_s <= 0 || least_s < 0 || least_s > uplink_s) {
    advice["why"] = WhyNot(run, profile);
  } else if (compute_s <= 0 || exposed_s < 0) {
    advice["why"] = "expected computeSeconds and exposedSeconds of its run, got none";
  } else {
    advice.update(
        {{"uplinkSeconds", uplink_s},
         {"leastUplinkSeconds", least_s},
         {"stepSeconds", compute_s + exposed_s},
         // Another place makes no wait for input shorter.
         {"gain", gains::GainOfPlace(compute_s + input_s, exposed_s - input_s, uplink_s, least_s)}});
  }
  return advice;
}

}  // namespace

json PlaceAdvice(const json& profiles, double since_s) {
  std::map<std::pair<std::string, std::string>, Latest> gangs;
  for (const json& profile : profiles) {
    for (const json& run : ListAt(profile, {"status", "runs"})) {
      const double seen_s = kube::ParseTimestamp(TextAt(run, {"lastSeen"})).value_or(0);
      if (seen_s <= since_s || CountAt(run, {}, "nodes") == 1) continue;
      Latest& latest = gangs[{NamespaceOf(profile), TextAt(run, {"gang"})}];
      if (seen_s > latest.seen_s) latest = {.run = &run, .profile = &profile, .seen_s = seen_s};
    }
  }
  std::vector<json> judged;
  for (const auto& [name, latest] : gangs)
    judged.push_back(
        Judged(*latest.run, *latest.profile,
               {{"namespace", name.first}, {"gang", name.second}, {"lastSeen", latest.run->at("lastSeen")}}));
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
