#include "extender/helm_hooks/findings.h"

#include "common/api/fields.h"
#include "common/api/pod.h"
#include "common/base/names.h"

namespace crossover::extender {
namespace {

using api::TextAt;
using kube::At;
using kube::ListAt;
using nlohmann::json;

constexpr char kShares[] = "true";

}  // namespace

std::vector<Holder> HoldersIn(const json& pods) {
  std::vector<Holder> holders;
  for (const json& item : ListAt(pods, "items")) {
    const auto pod = api::ParsePod(item);
    if (!pod || pod->over || pod->node.empty() || pod->slots() <= 0) continue;
    holders.push_back({.name_space = pod->name_space,
                       .pod = pod->name,
                       .node = pod->node,
                       .slots = static_cast<std::size_t>(pod->slots())});
  }
  return holders;
}

std::string LineOf(const Holder& holder) {
  return holder.name_space + "/" + holder.pod + " on " + holder.node + ": " + std::to_string(holder.slots) +
         (holder.slots == 1 ? " slot" : " slots");
}

// Returns a pod that asks for one slot. The pod meets level "restricted" of Pod Security, which the namespace
// may enforce. No node pulls its image, because the request that creates it is a dry run.
json PodThatShares(const std::string& name_space) {
  const json container = {
      {"name", "main"},
      {"image", "crossover.invalid/none:1"},
      {"resources", {{"limits", {{base::kSlotResource, "1"}}}}},
      {"securityContext",
       {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", json::array({"ALL"})}}}}}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"generateName", "crossover-try-"},
        {"namespace", name_space},
        {"annotations", {{base::kShareAnnotation, kShares}}}}},
      {"spec",
       {{"securityContext",
         {{"runAsNonRoot", true}, {"runAsUser", 65532}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
        {"automountServiceAccountToken", false},
        {"containers", json::array({container})}}}};
}

std::string WhyNotRewritten(const json& pod) {
  const json& spec = At(pod, "spec");
  if (!spec.is_object()) return "expected a pod as the API server's answer, got an answer without spec";
  if (TextAt(spec, "schedulerName") != base::kSchedulerName)
    return "its scheduler is " + TextAt(spec, "schedulerName") + ", not " + base::kSchedulerName +
           ": the API server did not ask the webhook about the pod, the webhook could not rewrite it, or "
           "another webhook changed it";
  for (const json& gate : ListAt(spec, "schedulingGates")) {
    if (TextAt(gate, "name") == base::kGangGate) return "";
  }
  return std::string("it has no scheduling gate ") + base::kGangGate;
}

}  // namespace crossover::extender
