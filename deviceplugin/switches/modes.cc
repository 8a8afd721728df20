#include "deviceplugin/switches/modes.h"

#include "common/base/names.h"
#include "common/kube/json.h"
#include "deviceplugin/config/values.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kOurs = CROSSOVER_DOMAIN "/";

// Written by anybody.
std::string Shown(const std::string& value) {
  constexpr std::size_t kMuch = 60;
  std::string shown = value.substr(0, kMuch) + (value.size() > kMuch ? ".." : "");
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

void Check(const Annotations& annotations, const char* key, bool (*is_allowed)(const std::string&),
           std::string_view allowed, std::vector<std::string>* faults) {
  const auto found = annotations.find(key);
  if (found == annotations.end() || is_allowed(found->second)) return;
  faults->push_back(found->first + ": " + Shown(found->second) + " is not allowed: " + std::string(allowed));
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

std::vector<std::string> FaultsIn(const Annotations& annotations, const Annotations& labels) {
  std::vector<std::string> faults;
  Check(
      annotations, base::kModeAnnotation,
      [](const std::string& text) { return ParsePolicy(text).has_value(); }, kModeAllowed, &faults);
  Check(
      annotations, base::kMaintenanceAnnotation,
      [](const std::string& text) { return text == "true" || text == "false"; }, "true or false", &faults);
  for (const char* key : {base::kModeAnnotation, base::kMaintenanceAnnotation}) {
    if (const auto label = labels.find(key); label != labels.end())
      faults.push_back(label->first + ": " + Shown(label->second) + " is a label: an annotation is allowed");
  }
  return faults;
}

}  // namespace crossover::deviceplugin
