#include "extender/helm_hooks/helm_hooks.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/names.h"
#include "common/kube/client.h"
#include "common/kube/pages.h"
#include "extender/helm_hooks/findings.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

constexpr long kOk = 200, kCreated = 201;
constexpr int kFine = 0, kFound = 1, kUnknown = 2;
constexpr std::size_t kMostTold = 50;
// The pods that are bound to a node and have not ended.
constexpr char kPodsOfNodes[] =
    "/api/v1/pods?fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

int Fail(int code, const std::string& why) {
  std::fprintf(stderr, "crossover-extender: %s\n", why.c_str());
  return code;
}

}  // namespace

int ListHolders(const kube::Access& access) {
  const kube::Client client(access);
  std::string lines, next;
  std::size_t found = 0;
  do {
    const kube::Response page = client.Get(std::string(kPodsOfNodes) + "&" + kube::PageParameters(next));
    const json list = page.status == kOk ? json::parse(page.body, nullptr, false) : json();
    if (!list.is_object()) return Fail(kUnknown, std::string(kPodsOfNodes) + ": " + kube::WhyNot(page));
    for (const Holder& holder : HoldersIn(list)) {
      if (++found <= kMostTold) lines += "  " + LineOf(holder) + "\n";
    }
    next = kube::NextPageOf(list);
  } while (!next.empty());
  if (found == 0) {
    std::printf("no pod holds a slot\n");
    return kFine;
  }
  const std::string told = found > kMostTold ? std::to_string(kMostTold) + " of " : "";
  std::printf("pods that hold slots (%s%zu):\n%s", told.c_str(), found, lines.c_str());
  return kFound;
}

int TryWebhook(const kube::Access& access, const std::string& name_space) {
  const std::string path = "/api/v1/namespaces/" + name_space + "/pods?dryRun=All";
  const kube::Response response =
      kube::Client(access).Send({.method = "POST", .path = path, .body = PodThatShares(name_space).dump()});
  if (response.status == 0) return Fail(kUnknown, path + ": " + kube::WhyNot(response));
  if (response.status != kCreated && response.status != kOk)
    return Fail(kFound, "a pod that shares cannot be made in " + name_space + ": " + kube::WhyNot(response));
  const std::string why = WhyNotRewritten(json::parse(response.body, nullptr, false));
  if (!why.empty()) return Fail(kFound, "a pod that shares in " + name_space + ": " + why);
  std::printf("a pod that shares in %s would wait for its gang, and be placed by %s\n", name_space.c_str(),
              base::kSchedulerName);
  return kFine;
}

int ListHolders() {
  std::string error;
  const auto access = kube::InClusterAccess(&error);
  return access ? ListHolders(*access) : Fail(kUnknown, error);
}

int TryWebhook(const std::string& name_space) {
  std::string error;
  const auto access = kube::InClusterAccess(&error);
  return access ? TryWebhook(*access, name_space) : Fail(kUnknown, error);
}

}  // namespace crossover::extender
