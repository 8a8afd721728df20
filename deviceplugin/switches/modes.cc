#include "deviceplugin/switches/modes.h"

#include "common/base/names.h"
#include "common/kube/json.h"
#include "deviceplugin/config/values.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kOurs = CROSSOVER_DOMAIN "/";

std::string NotAllowed(const std::string& key, const std::string& value, std::string_view allowed) {
  return key + ": " + value + " is not allowed: " + std::string(allowed);
}

}  // namespace

Annotations OursOf(const nlohmann::json& object, const char* key) {
  Annotations ours;
  const nlohmann::json& all = kube::At(kube::At(object, "metadata"), key);
  if (!all.is_object()) return ours;
  for (const auto& [name, value] : all.items()) {
    if (name.compare(0, kOurs.size(), kOurs) == 0) ours.emplace(name, kube::Text(value));
  }
  return ours;
}

arbiter::Policy ModeIn(const Annotations& annotations) {
  const auto mode = annotations.find(base::kModeAnnotation);
  if (mode == annotations.end()) return arbiter::Policy::kEnforce;
  return ParsePolicy(mode->second).value_or(arbiter::Policy::kEnforce);
}

std::string FaultIn(const Annotations& annotations) {
  const auto mode = annotations.find(base::kModeAnnotation);
  if (mode != annotations.end() && !ParsePolicy(mode->second))
    return NotAllowed(mode->first, mode->second, kModeAllowed);
  const auto maintenance = annotations.find(base::kMaintenanceAnnotation);
  if (maintenance != annotations.end() && maintenance->second != "true" && maintenance->second != "false")
    return NotAllowed(maintenance->first, maintenance->second, "true or false");
  return "";
}

}  // namespace crossover::deviceplugin
