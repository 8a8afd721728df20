#include "extender/gang/owner_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/text/number.h"
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

// Returns the count at `path`, limited to 0 to kMostPods, or `missing` if it is no whole number.
int CountAt(const json& object, std::string_view path, int missing) {
  if (path.empty()) return missing;
  const json& value = AtPath(object, path);
  if (!value.is_number_integer()) return missing;
  return static_cast<int>(std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, kMostPods));
}

int Product(std::int64_t a, std::int64_t b) {
  return static_cast<int>(std::min<std::int64_t>(kMostPods, a * b));
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

// Returns the number of indices in a list such as "1,3-5", at most kMostPods. What is no index does not
// count.
int CountIndices(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view range = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const std::size_t dash = range.find('-');
    const auto first = text::ParseInteger(range.substr(0, dash), 0, INT32_MAX);
    const auto last =
        dash == std::string_view::npos ? first : text::ParseInteger(range.substr(dash + 1), 0, INT32_MAX);
    if (first && last && *last >= *first)
      count = std::min<std::int64_t>(kMostPods, count + (*last - *first) + 1);
  }
  return static_cast<int>(count);
}

// Returns what the status says of the part with this name.
const json& StatusOf(const OwnerKind& kind, const json& object, const std::string& name) {
  static const json none;
  const json& statuses = AtPath(object, kind.statuses);
  if (*kind.parts == '\0') return statuses;
  if (!statuses.is_array() && !statuses.is_object()) return none;
  for (const auto& [key, status] : statuses.items()) {
    if (Lower(statuses.is_array() ? Text(At(status, kind.part_name)) : key) == name) return status;
  }
  return none;
}

// Returns the numbers of pods of the part `part` of an object. `status` is what the object's status says of
// the part.
Part PartIn(const OwnerKind& kind, const json& part, const json& status) {
  const int replicas = CountAt(part, kind.replicas, 1);
  const bool grouped = *kind.group != '\0';
  const int each = CountAt(part, kind.pods, 1);
  Part read;
  read.groups = grouped ? replicas : 1;
  read.pods = grouped ? each : Product(each, replicas);
  read.most = *kind.at_most == '\0' ? read.pods : CountAt(part, kind.at_most, Part::kUntilOneEnds);
  if (read.most != Part::kUntilOneEnds) read.pods = std::min(read.pods, read.most);
  const int done = CountAt(status, kind.done, 0) + CountIndices(Text(AtPath(status, kind.failed_indices)));
  (grouped ? read.done_groups : read.done) = std::min(done, kMostPods);
  return read;
}

// Returns whether a condition of the object says that the job has succeeded or failed.
bool HasEnded(const json& object) {
  constexpr std::array<std::string_view, 6> kEnds = {"Complete", "Completed",          "Succeeded",
                                                     "Failed",   "SuccessCriteriaMet", "FailureTarget"};
  const json& conditions = At(At(object, "status"), "conditions");
  return conditions.is_array() && std::ranges::any_of(conditions, [&](const json& condition) {
           return Text(At(condition, "status")) == "True" &&
                  std::ranges::find(kEnds, Text(At(condition, "type"))) != kEnds.end();
         });
}

// Returns whether pods of a template count as members of the gang.
using Counts = bool (*)(const json& pod_template);

void AddPart(const OwnerKind& kind, const std::string& name, const json& part, const json& status,
             Counts counts, OwnerFacts* facts) {
  const json& usual = AtPath(part, kind.pod_template);
  Part read = PartIn(kind, part, status);
  if (*kind.leader_template != '\0' && read.pods > 0) {
    const json& leader = AtPath(part, kind.leader_template);
    facts->parts["0"] = counts(leader.is_object() ? leader : usual) ? Part{.pods = 1, .most = 1} : Part{};
    read.most = --read.pods;
  }
  facts->parts[name] = counts(usual) ? read : Part{};
  const json& others = AtPath(part, kind.after);
  facts->ordered |= *kind.after != '\0' && others.is_array() && !others.empty();
}

// Returns OwnerFacts::least of facts whose parts have been read. Pods that ask for no GPU do not count, so a
// minimum of all pods may be higher than what the job needs of the others.
int LeastIn(const OwnerKind& kind, const json& object, const OwnerFacts& facts) {
  const int total = facts.total();
  const int of_part = CountAt(object, kind.least, 0);
  if (of_part > 0) {
    const auto part = facts.parts.find(kind.least_of);
    const int pods = part == facts.parts.end() ? 0 : part->second.all();
    return total - std::max(0, pods - of_part);
  }
  return std::min(total, CountAt(object, kind.least_of_all, 0));
}

void ReadParts(const OwnerKind& kind, const json& object, Counts counts, OwnerFacts* facts) {
  if (*kind.parts == '\0') return AddPart(kind, "", object, StatusOf(kind, object, ""), counts, facts);
  const json& parts = AtPath(object, kind.parts);
  if (!parts.is_array() && !parts.is_object()) return;
  for (const auto& [key, part] : parts.items()) {
    const std::string name = Lower(parts.is_array() ? Text(At(part, kind.part_name)) : key);
    AddPart(kind, name, part, StatusOf(kind, object, name), counts, facts);
  }
}

}  // namespace

int Part::all() const { return Product(groups, pods); }

int OwnerFacts::total() const {
  int sum = 0;
  for (const auto& [name, part] : parts) sum = std::min(kMostPods, sum + part.all());
  return sum;
}

bool OwnerFacts::has_done() const {
  return std::ranges::any_of(
      parts, [](const auto& entry) { return entry.second.done > 0 || entry.second.done_groups > 0; });
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
    facts.least = LeastIn(kind, object, facts);
    facts.ended = HasEnded(object);
    facts.ordered |= *kind.order != '\0' && Text(AtPath(object, kind.order)) == kind.ordered;
    break;
  }
  return facts;
}

}  // namespace crossover::extender
