#include "extender/gang/owner_facts.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "common/base/names.h"
#include "common/kube/json.h"
#include "extender/gang/owner_kinds.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr int kMostPods = 100'000;

const json& AtPath(const json& object, std::string_view path) {
  const json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    at = &At(*at, std::string(path.substr(0, dot)).c_str());
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *at;
}

// Returns the count at `path`, limited to 0 to kMostPods, or `missing` where there is no whole number.
int CountAt(const json& object, std::string_view path, int missing) {
  if (path.empty()) return missing;
  const json& value = AtPath(object, path);
  if (!value.is_number_integer()) return missing;
  return static_cast<int>(std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, kMostPods));
}

bool AsksForGpus(const json& pod_template) {
  const json& containers = At(At(pod_template, "spec"), "containers");
  return containers.is_array() && std::ranges::any_of(containers, [](const json& container) {
           const json& limits = At(At(container, "resources"), "limits");
           return !At(limits, base::kSlotResource).is_null() || !At(limits, "nvidia.com/gpu").is_null();
         });
}

bool Shares(const json& pod_template) {
  return !At(At(At(pod_template, "metadata"), "annotations"), base::kShareAnnotation).is_null();
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

int PodsOf(const OwnerKind& kind, const json& part) {
  const std::int64_t each = CountAt(part, kind.pods, 1);
  const std::int64_t most = CountAt(part, kind.at_most, kMostPods);
  const std::int64_t pods = CountAt(part, kind.replicas, 1) * std::min(each, most);
  return static_cast<int>(std::min<std::int64_t>(kMostPods, pods));
}

// Returns whether pods of a template count as members of the gang.
using Counts = bool (*)(const json& pod_template);

void AddPart(const OwnerKind& kind, const std::string& name, const json& part, Counts counts,
             OwnerFacts* facts) {
  const json& usual = AtPath(part, kind.pod_template);
  int pods = PodsOf(kind, part);
  if (*kind.leader_template != '\0' && pods > 0) {
    const json& leader = AtPath(part, kind.leader_template);
    facts->parts["0"] = counts(leader.is_object() ? leader : usual) ? 1 : 0;
    --pods;
  }
  facts->parts[name] = counts(usual) ? pods : 0;
  const json& others = AtPath(part, kind.after);
  facts->ordered |= *kind.after != '\0' && others.is_array() && !others.empty();
}

void ReadParts(const OwnerKind& kind, const json& object, Counts counts, OwnerFacts* facts) {
  if (*kind.parts == '\0') return AddPart(kind, "", object, counts, facts);
  const json& parts = AtPath(object, kind.parts);
  if (!parts.is_array() && !parts.is_object()) return;
  for (const auto& [key, part] : parts.items()) {
    AddPart(kind, Lower(parts.is_array() ? Text(At(part, kind.part_name)) : key), part, counts, facts);
  }
}

}  // namespace

int OwnerFacts::total() const {
  int sum = 0;
  for (const auto& [part, pods] : parts) sum = std::min(kMostPods, sum + pods);
  return sum;
}

OwnerFacts ReadOwner(const json& object) {
  OwnerFacts facts;
  facts.uid = Text(At(At(object, "metadata"), "uid"));
  const std::string kind_name = Text(At(object, "kind"));
  const std::string api_version = Text(At(object, "apiVersion"));
  for (const OwnerKind& kind : OwnerKinds()) {
    if (kind_name != kind.kind || api_version != kind.api_version) continue;
    // The pods of a template without our annotation get whole GPUs, and are no members of the gang. If no
    // template has the annotation, another program sets it on the pods themselves. Then all templates with
    // GPUs count.
    ReadParts(
        kind, object, [](const json& made) { return Shares(made) && AsksForGpus(made); }, &facts);
    if (facts.total() == 0) ReadParts(kind, object, AsksForGpus, &facts);
    facts.ordered |= *kind.order != '\0' && Text(AtPath(object, kind.order)) == kind.ordered;
    break;
  }
  return facts;
}

}  // namespace crossover::extender
