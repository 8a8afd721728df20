#include "extender/helm_hooks/helm_hooks.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/base/names.h"
#include "common/kube/client.h"
#include "common/kube/pages.h"
#include "extender/helm_hooks/findings.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

constexpr long kOk = 200, kCreated = 201, kNotFound = 404;
constexpr int kFine = 0, kFound = 1, kUnknown = 2;
constexpr std::size_t kMostTold = 50;
constexpr char kGpuNodes[] = "/apis/" CROSSOVER_DOMAIN "/v1alpha1/gpunodes";

int Fail(int code, const std::string& why) {
  std::fprintf(stderr, "crossover-extender: %s\n", why.c_str());
  return code;
}

// Returns false if the API server says that the pod is gone or holds no slots any more. Any other answer
// counts as true. Sets `*answers` to false if there is no answer at all.
bool IsThere(const kube::Client& client, const Holder& holder, bool* answers) {
  const std::string path = "/api/v1/namespaces/" + holder.name_space + "/pods/" + holder.pod;
  const kube::Response response = client.Get(path);
  if (response.status == kNotFound) return false;
  if (response.status == kOk) return StillHolds(holder, json::parse(response.body, nullptr, false));
  *answers = response.status != 0;
  std::fprintf(stderr, "crossover-extender: %s: %s\n", path.c_str(), kube::WhyNot(response).c_str());
  return true;
}

// Prints the `holders` that are there, at most kMostTold, and returns the exit code. Once the API server
// does not answer, it counts the rest as there.
int Tell(const kube::Client& client, const std::vector<Holder>& holders) {
  std::string lines;
  std::size_t found = 0, looked = 0;
  bool answers = true;
  for (; looked < holders.size() && found < kMostTold; ++looked) {
    if (answers && !IsThere(client, holders[looked], &answers)) continue;
    ++found;
    lines += "  " + LineOf(holders[looked]) + "\n";
  }
  if (found == 0) {
    std::printf("no pod holds a slot\n");
    return kFine;
  }
  const std::size_t rest = holders.size() - looked;
  const std::string of = rest > 0 ? " of up to " + std::to_string(found + rest) : "";
  std::printf("pods that hold slots (%zu%s):\n%s", found, of.c_str(), lines.c_str());
  return kFound;
}

}  // namespace

int ListHolders(const kube::Access& access) {
  const kube::Client client(access);
  std::vector<Holder> holders;
  std::string next;
  do {
    const kube::Response page = client.Get(std::string(kGpuNodes) + "?" + kube::PageParameters(next));
    if (page.status == kNotFound && next.empty()) {
      std::printf("no pod holds a slot: this cluster knows no GPUNodes\n");
      return kFine;
    }
    const json list = page.status == kOk ? json::parse(page.body, nullptr, false) : json();
    if (!list.is_object()) return Fail(kUnknown, std::string(kGpuNodes) + ": " + kube::WhyNot(page));
    for (Holder& holder : HoldersIn(list)) holders.push_back(std::move(holder));
    next = kube::NextPageOf(list);
  } while (!next.empty());
  return Tell(client, holders);
}

int TryWebhook(const kube::Access& access, const std::string& name_space) {
  const std::string path = "/api/v1/namespaces/" + name_space + "/pods?dryRun=All";
  const kube::Response response =
      kube::Client(access).Send({.method = "POST", .path = path, .body = PodThatShares(name_space).dump()});
  if (response.status == 0) return Fail(kUnknown, path + ": " + kube::WhyNot(response));
  if (response.status != kCreated && response.status != kOk)
    return Fail(kFound, "a pod that shares was refused in " + name_space + ": " + kube::WhyNot(response));
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
