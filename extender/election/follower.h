// Follows the Lease by which the schedulers elect a leader. The extender leads while the scheduler of its
// own pod leads. The two disagree only while a change of the Lease is on its way here. Thread-safe.
#pragma once

#include <mutex>
#include <string>

#include "common/kube/list_watch.h"
#include "extender/election/lease.h"

namespace crossover::extender {

class LeaseFollower : private kube::ListWatch::Handler {
 public:
  // `name_space` and `name` are those of the Lease; `host` is the host name of this pod.
  LeaseFollower(const kube::Access& access, const std::string& name_space, const std::string& name,
                const std::string& host);

  // Returns whether the scheduler of this pod holds the Lease now (LeaseJudge::Leads()).
  bool Leads() const;
  std::string holder() const;  // "": no holder
  // Returns whether the state of the Lease is known.
  bool synced() const { return watch_.synced(); }

 private:
  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& lease) override;
  void OnDelete(const nlohmann::json& lease) override;

  mutable std::mutex mutex_;
  LeaseJudge judge_;
  kube::ListWatch watch_;  // last: calls the members above
};

}  // namespace crossover::extender
