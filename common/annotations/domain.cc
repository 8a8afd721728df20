#include "common/annotations/domain.h"

#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::annotations {
namespace {

constexpr std::string_view kOurs = CROSSOVER_DOMAIN "/";

}  // namespace

bool IsOurs(std::string_view key) { return key.substr(0, kOurs.size()) == kOurs; }

Annotations OursOf(const nlohmann::json& object, const char* key) {
  Annotations ours;
  const nlohmann::json& all = kube::At(kube::At(object, "metadata"), key);
  if (!all.is_object()) return ours;
  for (const auto& [name, value] : all.items()) {
    if (IsOurs(name)) ours.emplace(name, kube::Text(value));
  }
  return ours;
}

}  // namespace crossover::annotations
