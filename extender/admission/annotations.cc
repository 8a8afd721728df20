#include "extender/admission/annotations.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/annotations/rules.h"
#include "common/base/hash.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/base/within.h"

namespace crossover::extender::admission {
namespace {

using annotations::Annotations;
using annotations::Shown;

constexpr std::size_t kMarkSize = 16;
constexpr std::string_view kStatus = CROSSOVER_DOMAIN "/status-";

bool IsWrittenByUs(std::string_view key) {
  return key == base::kAdmittedAnnotation || key == base::kReservationAnnotation ||
         key == base::kRequeueAnnotation || key == base::kAssignmentAnnotation || key.starts_with(kStatus);
}

bool IsMark(std::string_view text) {
  return text.size() == kMarkSize && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<std::string> RefusalOfAnnotation(const std::string& key, const std::string& value) {
  if (IsWrittenByUs(key))
    return base::Refusal(key, "no such annotation, because only Crossover writes it", Shown(value));
  if (key == base::kMaintenanceAnnotation)
    return base::Refusal(key, "no such annotation, because it belongs on a node", Shown(value));
  if (key == base::kConfigurationLabel)
    return base::Refusal(key, "no such annotation, because it is a label that belongs on a node",
                         Shown(value));
  if (annotations::RuleOf(key) != nullptr) return annotations::FaultOf(key, value);
  return Shown(key) + ": there is no such annotation; " + annotations::NearestTo(key) + " is the nearest";
}

std::optional<std::string> RefusalOfLabel(const std::string& key, const std::string& value, bool shares) {
  if (key == base::kConfigurationLabel)
    return base::Refusal(key, "no such label, because it belongs on a node", Shown(value));
  if (key == base::kManagedLabel) {
    if (shares && value == "true") return std::nullopt;
    return base::Refusal(
        key,
        std::string("no such label, because only Crossover sets it, on pods with ") + base::kShareAnnotation,
        Shown(value));
  }
  if (annotations::RuleOf(key) == nullptr) return Shown(key) + ": there is no such label";
  return annotations::FaultOfLabel(key, value);
}

}  // namespace

std::string AdmittedMark(const std::string& name_space, const Annotations& annotations) {
  std::string text = name_space;
  for (const auto& [key, value] : annotations) {
    if (key == base::kAdmittedAnnotation) continue;
    text.append(1, '\0').append(key).append(1, '\0').append(value);
  }
  return base::HexOf(base::Hash(text)).data();
}

std::optional<std::string> RefusalOf(const nlohmann::json& pod) {
  const Annotations ours = annotations::OursOf(pod, "annotations");
  for (const auto& [key, value] : ours) {
    // An earlier call for this pod set the mark. The mark may not match the annotations, because another
    // webhook may have added one of ours since.
    if (key == base::kAdmittedAnnotation && IsMark(value)) continue;
    if (auto refusal = RefusalOfAnnotation(key, value)) return refusal;
  }
  for (const auto& [key, value] : annotations::OursOf(pod, "labels")) {
    if (auto refusal = RefusalOfLabel(key, value, ours.contains(base::kShareAnnotation))) return refusal;
  }
  return std::nullopt;
}

std::optional<std::string> RefusalOfWithin(const nlohmann::json& pod, std::span<const std::string> labels) {
  const Annotations ours = annotations::OursOf(pod, "annotations");
  const auto within = ours.find(base::kWithinAnnotation);
  if (within == ours.end() || std::ranges::find(labels, within->second) != labels.end()) return std::nullopt;
  return base::WithinRefusal(labels, within->second);
}

}  // namespace crossover::extender::admission
