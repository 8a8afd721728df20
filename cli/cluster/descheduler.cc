// Checks what a Descheduler that is in the cluster does to our pods. docs/operations.md, "The Descheduler",
// has its rules.
#include <algorithm>
#include <string_view>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/base/foreign_keys.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

// A Stance says what a policy lets the Descheduler do to a pod with slots.
enum class Stance {
  kNoPolicy,       // the text is no policy of the Descheduler
  kEvicts,         // the Descheduler may evict any pod with slots
  kHeedsTheirs,    // the Descheduler leaves pods with the annotation
  kLeavesManaged,  // the policy names the label of our pods in a labelSelector, which excludes them
};

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Returns whether a line of the text is noEvictionPolicy: Mandatory, with or without quotes.
bool IsMandatory(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\'' || c == ' ' || c == '\t'; });
  return Has("\n" + text + "\n", "\nnoEvictionPolicy:Mandatory\n");
}

// Returns what a text of a ConfigMap says of our pods. This function looks at the lines of the text, because
// this program reads no YAML. If one of several profiles names the label or the setting, the policy counts as
// naming it.
Stance StanceOf(const std::string& text) {
  if (!Has(text, "DeschedulerPolicy")) return Stance::kNoPolicy;
  if (Has(text, base::kManagedLabel)) return Stance::kLeavesManaged;
  return IsMandatory(text) ? Stance::kHeedsTheirs : Stance::kEvicts;
}

// Returns the stance of a ConfigMap, which is that of its policy.
Stance StanceOf(const json& config) {
  Stance stance = Stance::kNoPolicy;
  for (const std::string& text : TextsOf(config)) stance = std::max(stance, StanceOf(text));
  return stance;
}

// Adds the running pods that lack the annotation.
void AddUnmarked(const ClusterFacts& facts, Places* places) {
  for (const json& pod : facts.Items("pods")) {
    if (NodeOf(pod).empty() || IsOver(pod)) continue;
    const json& annotations = kube::At(kube::At(pod, "metadata"), "annotations");
    if (annotations.is_object() && annotations.contains(base::kPreferNoEvictionAnnotation)) continue;
    places->push_back(FullName(pod) + ": " +
                      base::Refusal(base::kPreferNoEvictionAnnotation, "true", base::Shown("")));
  }
}

}  // namespace

Places PodsThatTheDeschedulerMoves(const ClusterFacts& facts) {
  Places places;
  bool heeds = false;
  for (const char* list : {"descheduler_of_chart", "descheduler_of_manifests"}) {
    for (const json& config : facts.Items(list)) {
      const Stance stance = StanceOf(config);
      heeds |= stance == Stance::kHeedsTheirs;
      if (stance != Stance::kEvicts) continue;
      places.push_back("ConfigMap " + FullName(config) +
                       ": expected noEvictionPolicy: Mandatory in each profile, got no such line");
    }
  }
  if (heeds) AddUnmarked(facts, &places);
  return places;
}

}  // namespace crossover::cli
