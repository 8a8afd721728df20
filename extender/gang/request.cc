#include "extender/gang/request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/base/names.h"
#include "extender/gang/containers.h"
#include "extender/profiles/observed.h"

namespace crossover::extender {
namespace {

const std::string* Find(const Pod& pod, const char* key) {
  const auto found = pod.annotations.find(key);
  return found == pod.annotations.end() ? nullptr : &found->second;
}

std::string NotAllowed(const char* key, const std::string& value, const char* allowed) {
  return std::string(key) + ": \"" + value.substr(0, 64) + "\" is not allowed: " + allowed;
}

std::optional<double> NumberIn(std::string_view text, std::string_view* rest) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || !std::isfinite(number)) return std::nullopt;
  *rest = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

// As Kubernetes writes quantities, of at least a byte.
std::optional<std::uint64_t> BytesIn(const std::string& text) {
  static const std::map<std::string_view, double> kUnits = {
      {"", 1},        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40},
  };
  std::string_view unit;
  const auto number = NumberIn(text, &unit);
  const auto found = kUnits.find(unit);
  if (!number || found == kUnits.end()) return std::nullopt;
  const double bytes = *number * found->second;
  if (bytes < 1 || bytes > 0x1p50) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::string ReadPriority(const Pod& pod, placement::Gang* gang) {
  const std::string* value = Find(pod, base::kTurnPriorityAnnotation);
  if (value == nullptr || *value == "normal") return "";
  if (*value != "high" && *value != "low") {
    return NotAllowed(base::kTurnPriorityAnnotation, *value, "high, normal or low");
  }
  gang->priority = *value == "high" ? placement::Priority::kHigh : placement::Priority::kLow;
  return "";
}

std::string ReadConsent(const Pod& pod, placement::Gang* gang) {
  if (const std::string* value = Find(pod, base::kShareWithAnnotation)) {
    if (*value != "namespace" && *value != "cluster") {
      return NotAllowed(base::kShareWithAnnotation, *value, "namespace or cluster");
    }
    if (*value == "cluster") gang->consent = placement::Consent::kCluster;
  }
  const std::string* share = Find(pod, base::kShareAnnotation);
  if (share != nullptr && *share != "true" && *share != "exclusive") {
    return NotAllowed(base::kShareAnnotation, *share, "true or exclusive");
  }
  gang->exclusive = share != nullptr && *share == "exclusive";
  return "";
}

std::string ReadLimits(const Pod& pod, placement::Gang* gang) {
  if (const std::string* value = Find(pod, base::kMaxSlowdownAnnotation)) {
    std::string_view rest;
    const auto cap = NumberIn(*value, &rest);
    if (!cap || !rest.empty() || *cap < 1) {
      return NotAllowed(base::kMaxSlowdownAnnotation, *value, "a number, at least 1");
    }
    gang->max_slowdown = *cap;
  }
  if (const std::string* value = Find(pod, base::kGpuMemoryAnnotation)) {
    const auto bytes = BytesIn(*value);
    if (!bytes) return NotAllowed(base::kGpuMemoryAnnotation, *value, "an amount of memory, such as 20Gi");
    gang->memory_cap = *bytes;
  }
  return "";
}

// What pods that have their place were granted: what is known of such jobs may be another figure by now.
// Where one runs without any bound, there is none for the gang.
void ReadGranted(std::span<const Pod* const> members, placement::Gang* gang) {
  bool unbounded = false;
  for (const Pod* pod : members) {
    if (pod->node.empty() && Find(*pod, base::kReservationAnnotation) == nullptr) continue;
    const std::string* granted = Find(*pod, base::kGrantedMemoryAnnotation);
    const auto bytes = granted == nullptr ? std::nullopt : BytesIn(*granted);
    gang->memory_cap = std::max(gang->memory_cap, bytes.value_or(0));
    unbounded |= !bytes && !pod->node.empty();
  }
  if (unbounded) gang->memory_cap = gang->profile.peak_memory = 0;
}

void AddProfile(const World& world, const Pod& pod, placement::Gang* gang) {
  gang->key = PlacementKeyOf(pod.name_space, pod.profile_key);
  if (gang->key.empty()) return;
  const JobProfile* known = world.FindProfile(pod.name_space, pod.profile_key);
  if (known == nullptr) return;
  gang->profile = {.source = known->hinted ? placement::Source::kHinted : placement::Source::kMeasured,
                   .compute_s = known->compute_s,
                   .exposed_s = known->exposed_s,
                   .peak_memory = known->peak_memory};
}

// All pods of a gang must agree on these.
std::string Unlike(const Pod& first, const Pod& other) {
  if (GpusWanted(first) != GpusWanted(other)) {
    return "pods of one gang ask for different numbers of GPUs: " + first.name + " for " +
           std::to_string(GpusWanted(first)) + ", " + other.name + " for " +
           std::to_string(GpusWanted(other)) + "; allowed is one number";
  }
  for (const char* key :
       {base::kShareAnnotation, base::kShareWithAnnotation, base::kGpuMemoryAnnotation,
        base::kMaxSlowdownAnnotation, base::kTurnPriorityAnnotation, base::kGangSizeAnnotation}) {
    const std::string* a = Find(first, key);
    const std::string* b = Find(other, key);
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) {
      return std::string(key) + ": \"" + (b == nullptr ? "" : b->substr(0, 64)) + "\" of " + other.name +
             " is not allowed: " + first.name + " of the same gang has \"" +
             (a == nullptr ? "" : a->substr(0, 64)) + "\"";
    }
  }
  return "";
}

}  // namespace

Request RequestOf(const Membership& membership, std::span<const Pod* const> members, int pods,
                  const World& world) {
  const Pod& first = *members.front();
  Request request;
  request.fault = membership.fault;
  placement::Gang& gang = request.gang;
  gang.id = membership.id;
  gang.name = membership.name;
  gang.space = first.name_space;
  gang.pods = pods;
  gang.gpus_per_pod = GpusWanted(first);
  gang.uid = first.user.value_or(0);  // an image that says nothing runs as root
  gang.arrived_s = first.created_s;
  for (const Pod* pod : members) gang.arrived_s = std::min(gang.arrived_s, pod->created_s);
  const auto check = [&request](const std::string& fault) {
    if (request.fault.empty()) request.fault = fault;
  };
  check(ReadConsent(first, &gang));
  check(ReadPriority(first, &gang));
  check(ReadLimits(first, &gang));
  for (const Pod* pod : members) {
    check(FaultyContainers(*pod));
    check(Unlike(first, *pod));
  }
  gang.exclusive |= !membership.aside.empty();
  AddProfile(world, first, &gang);
  request.names_memory = gang.memory_cap > 0;
  if (!request.names_memory) ReadGranted(members, &gang);
  return request;
}

}  // namespace crossover::extender
