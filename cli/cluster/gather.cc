#include "cli/cluster/gather.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

struct Got {
  std::optional<nlohmann::json> items;
  std::string error;
};

Got Ask(const Kubectl& kubectl, const Sought& sought) {
  Got got;
  got.items = kubectl.List(sought.Words(), &got.error);
  return got;
}

// Returns whether kubectl says that the API server does not know the kind of object.
bool IsKindUnknown(const std::string& error) {
  return error.find("the server doesn't have a resource type") != std::string::npos;
}

}  // namespace

ClusterFacts Gather(const Kubectl& kubectl) {
  std::vector<std::future<Got>> asked;
  for (const Sought& sought : kSought)
    asked.push_back(std::async(std::launch::async, [&kubectl, &sought] { return Ask(kubectl, sought); }));
  ClusterFacts facts;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Got got = asked[i].get();
    if (got.items) {
      facts.lists[kSought[i].name] = std::move(*got.items);
    } else if (kSought[i].optional && IsKindUnknown(got.error)) {
      facts.lists[kSought[i].name] = nlohmann::json::array();
    } else {
      facts.unseen[kSought[i].name] = got.error;
    }
  }
  const std::chrono::duration<double> local = std::chrono::system_clock::now().time_since_epoch();
  facts.now_s = TimeIn(facts.Items("clock"), local.count());
  return facts;
}

double TimeIn(const nlohmann::json& leases, double local_s) {
  constexpr double kFarOff = 600;
  constexpr double kClose = 30;
  std::vector<double> renewals;
  for (const nlohmann::json& lease : leases) {
    const auto renewed = kube::ParseTimestamp(TextAt(lease, {"spec", "renewTime"}));
    if (renewed && std::abs(*renewed - local_s) <= kFarOff) renewals.push_back(*renewed);
  }
  if (renewals.empty()) return local_s;
  // The median ignores a program whose clock is wrong, and a Lease that is not renewed any more.
  std::ranges::nth_element(renewals, renewals.begin() + static_cast<std::ptrdiff_t>(renewals.size() / 2));
  const double median = renewals[renewals.size() / 2];
  return std::abs(median - local_s) <= kClose ? local_s : median;
}

}  // namespace crossover::cli
