#include "deviceplugin/switches/namespaces.h"

#include "common/kube/json.h"
#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

std::string NameOf(const nlohmann::json& object) {
  return kube::Text(kube::At(kube::At(object, "metadata"), "name"));
}

}  // namespace

void Namespaces::Take(const nlohmann::json& object, Modes* modes) {
  const std::string name = NameOf(object);
  const Annotations ours = OursOf(object, "annotations");
  const arbiter::Policy mode = ModeIn(ours);
  modes->erase(name);
  if (mode != arbiter::Policy::kEnforce) modes->emplace(name, mode);
  const std::string fault = FaultIn(ours);
  if (fault.empty()) {
    faults_.erase(name);
  } else if (faults_[name] != fault) {
    faults_[name] = fault;
    logging::Warn("namespace " + name + ": " + fault);
  }
}

void Namespaces::Replace(Modes modes) {
  {
    const std::lock_guard lock(mutex_);
    if (modes == modes_) return;
    modes_ = std::move(modes);
  }
  on_change_();
}

void Namespaces::OnList(const nlohmann::json& items) {
  Modes modes;
  for (const nlohmann::json& item : items) Take(item, &modes);
  Replace(std::move(modes));
}

void Namespaces::OnChange(const nlohmann::json& object) {
  Modes modes = modes_;  // nobody else writes it
  Take(object, &modes);
  Replace(std::move(modes));
}

void Namespaces::OnDelete(const nlohmann::json& object) {
  Modes modes = modes_;
  modes.erase(NameOf(object));
  faults_.erase(NameOf(object));
  Replace(std::move(modes));
}

arbiter::Policy Namespaces::ModeOf(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = modes_.find(name);
  return found == modes_.end() ? arbiter::Policy::kEnforce : found->second;
}

}  // namespace crossover::deviceplugin
