#include "common/kube/profile_key.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/hash.h"
#include "common/base/names.h"
#include "common/base/shrink_choice.h"
#include "common/kube/json.h"
#include "common/text/truncate.h"

namespace crossover::kube {
namespace {

using nlohmann::json;

// The first label that a pod has counts, so the most specific label comes first. Some controllers create
// several jobs of one name; a label of the pod then has the index of the job. The table of gangs
// (extender/gang/owner_kinds.cc) has these labels, too, and tests/unit/extender/gang/membership_test.cc
// compares the two.
struct OwnerLabel {
  const char* name;
  const char* index = "";
};
constexpr OwnerLabel kOwnerLabels[] = {
    {"kueue.x-k8s.io/pod-group-name"},
    {"jobset.sigs.k8s.io/jobset-name"},
    {"leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"},
    {"training.kubeflow.org/job-name"},
    {"batch.kubernetes.io/job-name"},
    {"job-name"},
};
constexpr std::size_t kRandomLetters = 5;  // length of a generated suffix
// Kubernetes makes random suffixes of these characters, without vowels.
constexpr std::string_view kRandom = "bcdfghjklmnpqrstvwxz2456789";

bool IsOfOneRun(std::string_view part) {
  if (part.empty()) return true;
  if (std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return true;
  const bool random = part.find_first_not_of(kRandom) == std::string_view::npos;
  const bool digit = part.find_first_of("2456789") != std::string_view::npos;
  return part.size() == kRandomLetters && random && digit;
}

std::string_view WithoutRun(std::string_view name) {
  for (std::size_t dash; (dash = name.rfind('-')) != std::string_view::npos && dash > 0;) {
    if (!IsOfOneRun(name.substr(dash + 1))) break;
    name = name.substr(0, dash);
  }
  return name;
}

// Returns the name of the job. `label` returns the value of a label, or "" if the pod does not have it.
template <class Label>
std::string JobNamed(const Label& label) {
  for (const OwnerLabel& row : kOwnerLabels) {
    const std::string name = label(row.name);
    if (name.empty()) continue;
    const std::string index = label(row.index);
    return index.empty() ? name : name + "-" + index;
  }
  return "";
}

std::string OwnerOf(const json& metadata) {
  if (std::string name = JobNamedBy(At(metadata, "labels")); !name.empty()) return name;
  const json& owners = At(metadata, "ownerReferences");
  if (owners.is_array() && !owners.empty()) {
    if (std::string name = Text(At(owners[0], "name")); !name.empty()) return name;
  }
  return Text(At(metadata, "name"));
}

constexpr std::size_t kHashed = 17;
std::string Hashed(std::string_view text) { return std::string("-") + base::HexOf(base::Hash(text)).data(); }

std::string TemplateOf(const json& pod) {
  json seen = json::array();
  for (const char* list : {"initContainers", "containers"}) {
    const json& containers = At(At(pod, "spec"), list);
    if (!containers.is_array()) continue;
    for (const json& container : containers) {
      const json& slots = At(At(At(container, "resources"), "limits"), base::kSlotResource);
      if (slots.is_null()) continue;
      seen.push_back(
          json::array({At(container, "image"), At(container, "command"), At(container, "args"), slots}));
    }
  }
  seen.push_back(At(At(At(pod, "metadata"), "annotations"), base::kGangSizeAnnotation));
  return Dump(seen);
}

constexpr char kBeforeLevel = '+';

// Returns what follows the key of a pod whose reductions are compressed, or "".
std::string LevelOf(const json& annotations) {
  const std::string text = Text(At(annotations, base::kShrinkAnnotation));
  const base::ShrinkLevelName* asked = base::ShrinkLevelOf(text.c_str());
  if (asked == nullptr || !base::Narrows(asked->level)) return "";
  if (asked->level != base::ShrinkLevel::kAuto) return kBeforeLevel + text;
  const std::string chosen = Text(At(annotations, base::kShrinkChoiceAnnotation));
  const base::ShrinkChoiceText* row = base::ShrinkChoiceOf(chosen.c_str());
  return row == nullptr || row->choice.level == base::ShrinkLevel::kOff ? "" : kBeforeLevel + chosen;
}

// Returns the key, or a shorter one with a hash of it.
std::string Limited(const std::string& key) {
  if (key.size() <= kLongestProfileKey) return key;
  return std::string(text::Truncate(key, kLongestProfileKey - kHashed)) + Hashed(key);
}

}  // namespace

std::string ProfileKeyOf(const json& pod) {
  const json& metadata = At(pod, "metadata");
  const json& annotations = At(metadata, "annotations");
  const std::string key = Text(At(annotations, base::kProfileKeyAnnotation));
  if (!key.empty()) return Limited(key + LevelOf(annotations));
  const std::string owner = OwnerOf(metadata);
  if (owner.empty()) return "";
  const auto named = text::Truncate(WithoutRun(owner), kLongestProfileKey - kHashed);
  return Limited(std::string(named) + Hashed(TemplateOf(pod)) + LevelOf(annotations));
}

std::string WithoutLevel(const std::string& key) {
  const std::size_t at = key.rfind(kBeforeLevel);
  if (at == std::string::npos) return key;
  const base::ShrinkLevelName* row = base::ShrinkLevelOf(key.c_str() + at + 1);
  return row != nullptr && base::Narrows(row->level) ? key.substr(0, at) : key;
}

std::string JobNamedBy(const json& labels) {
  return JobNamed([&labels](const char* key) { return Text(At(labels, key)); });
}

std::string JobNamedBy(const std::map<std::string, std::string>& labels) {
  return JobNamed([&labels](const char* key) {
    const auto found = labels.find(key);
    return found == labels.end() ? std::string() : found->second;
  });
}

}  // namespace crossover::kube
