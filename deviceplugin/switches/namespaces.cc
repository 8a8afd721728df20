#include "deviceplugin/switches/namespaces.h"

#include <utility>

#include "common/kube/json.h"

namespace crossover::deviceplugin {
namespace {

std::string NameOf(const nlohmann::json& object) {
  return kube::Text(kube::At(kube::At(object, "metadata"), "name"));
}

}  // namespace

void Namespaces::Take(const nlohmann::json& object, Known* known) {
  const std::string name = NameOf(object);
  const Annotations annotations = OursOf(object, "annotations");
  const arbiter::Policy mode = ModeIn(annotations);
  known->modes.erase(name);
  if (mode != arbiter::Policy::kEnforce) known->modes.emplace(name, mode);
  std::vector<std::string> faults = FaultsIn(annotations, OursOf(object, "labels"));
  known->faults.erase(name);
  if (!faults.empty()) known->faults.emplace(name, std::move(faults));
}

void Namespaces::Replace(Known known) {
  {
    const std::lock_guard lock(mutex_);
    std::swap(known, known_);
    if (known.modes == known_.modes) return;
  }
  on_change_();
}

void Namespaces::OnList(const nlohmann::json& items) {
  Known known;
  for (const nlohmann::json& item : items) Take(item, &known);
  Replace(std::move(known));
}

void Namespaces::OnChange(const nlohmann::json& object) {
  Known known = known_;  // without the lock: only this thread writes known_
  Take(object, &known);
  Replace(std::move(known));
}

void Namespaces::OnDelete(const nlohmann::json& object) {
  Known known = known_;
  known.modes.erase(NameOf(object));
  known.faults.erase(NameOf(object));
  Replace(std::move(known));
}

arbiter::Policy Namespaces::ModeOf(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.modes.find(name);
  return found == known_.modes.end() ? arbiter::Policy::kEnforce : found->second;
}

Namespaces::Faults Namespaces::faults() const {
  const std::lock_guard lock(mutex_);
  return known_.faults;
}

}  // namespace crossover::deviceplugin
