#include "extender/admission/quotas.h"

#include <utility>

#include "common/kube/json.h"

namespace crossover::extender::admission {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

std::string OfMetadata(const json& object, const char* key) { return Text(At(At(object, "metadata"), key)); }

}  // namespace

void Quotas::Take(const json& object, std::map<std::string, ByName>* known) {
  std::set<std::string>& limited = (*known)[OfMetadata(object, "namespace")][OfMetadata(object, "name")];
  limited.clear();
  const json& hard = At(At(object, "spec"), "hard");
  if (!hard.is_object()) return;
  for (const auto& [resource, amount] : hard.items()) limited.insert(resource);
}

void Quotas::OnList(const json& items) {
  std::map<std::string, ByName> known;
  for (const json& item : items) Take(item, &known);
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
  listed_ = true;
}

void Quotas::OnChange(const json& object) {
  const std::lock_guard lock(mutex_);
  Take(object, &known_);
}

void Quotas::OnDelete(const json& object) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(OfMetadata(object, "namespace"));
  if (found == known_.end()) return;
  found->second.erase(OfMetadata(object, "name"));
  if (found->second.empty()) known_.erase(found);
}

std::optional<std::set<std::string>> Quotas::LimitedIn(const std::string& name_space) const {
  const std::lock_guard lock(mutex_);
  if (!listed_) return std::nullopt;
  std::set<std::string> all;
  const auto found = known_.find(name_space);
  if (found == known_.end()) return all;
  for (const auto& [name, limited] : found->second) all.insert(limited.begin(), limited.end());
  return all;
}

}  // namespace crossover::extender::admission
