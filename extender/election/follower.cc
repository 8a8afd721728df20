#include "extender/election/follower.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace crossover::extender {
namespace {

// Returns seconds of the steady clock.
double SteadyS() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

LeaseFollower::LeaseFollower(const kube::Access& access, const std::string& name_space,
                             const std::string& name, const std::string& host)
    : judge_(host),
      watch_(access,
             "/apis/coordination.k8s.io/v1/namespaces/" + name_space +
                 "/leases?fieldSelector=metadata.name%3D" + name,
             this) {}

bool LeaseFollower::Leads() const {
  const std::lock_guard lock(mutex_);
  return judge_.Leads(SteadyS());
}

std::string LeaseFollower::holder() const {
  const std::lock_guard lock(mutex_);
  return judge_.holder();
}

void LeaseFollower::OnList(const nlohmann::json& items) {
  if (items.empty()) return OnDelete(nullptr);
  OnChange(items.front());
}

void LeaseFollower::OnChange(const nlohmann::json& lease) {
  const std::lock_guard lock(mutex_);
  judge_.Saw(ParseLease(lease), SteadyS());
}

void LeaseFollower::OnDelete(const nlohmann::json& /*lease*/) {
  const std::lock_guard lock(mutex_);
  judge_.Gone();
}

}  // namespace crossover::extender
