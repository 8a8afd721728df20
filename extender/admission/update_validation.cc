#include "extender/admission/update_validation.h"

#include "common/annotations/domain.h"
#include "common/annotations/rules.h"
#include "common/base/names.h"

namespace crossover::extender::admission {
namespace {

using annotations::Annotations;
using annotations::Shown;

// Returns a key that only one of the two has, or whose values differ; "" if there is none.
std::string Changed(const Annotations& before, const Annotations& after) {
  for (const auto& [key, value] : before) {
    const auto found = after.find(key);
    if (found == after.end() || found->second != value) return key;
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) return key;
  }
  return "";
}

}  // namespace

std::optional<std::string> RefusalOfChange(const nlohmann::json& before, const nlohmann::json& after,
                                           const std::string& user, const std::set<std::string>& writers) {
  if (writers.contains(user)) return std::nullopt;
  Annotations then = annotations::OursOf(before, "annotations");
  Annotations now = annotations::OursOf(after, "annotations");
  if (const auto mode = now.find(base::kModeAnnotation);
      mode != now.end() && mode->second != then[mode->first]) {
    if (auto fault = annotations::FaultOf(mode->first, mode->second)) return fault;
  }
  then.erase(base::kModeAnnotation);
  now.erase(base::kModeAnnotation);
  std::string key = Changed(then, now);
  if (key.empty()) key = Changed(annotations::OursOf(before, "labels"), annotations::OursOf(after, "labels"));
  if (key.empty()) return std::nullopt;
  return Shown(key) + ": " + Shown(user) + " may not change it: after a pod is made, " +
         base::kModeAnnotation + " alone may change";
}

}  // namespace crossover::extender::admission
