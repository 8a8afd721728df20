// Follows the Lease by which schedulers elect: the extender leads while the scheduler of its own pod does, so
// that the two never disagree. Thread-safe.
#pragma once

#include <mutex>
#include <string>

#include "common/kube/list_watch.h"
#include "extender/election/lease.h"

namespace crossover::extender {

class LeaseFollower : private kube::ListWatch::Handler {
 public:
  // `name_space` and `name`: of the Lease; `host`: of this pod.
  LeaseFollower(const kube::Access& access, const std::string& name_space, const std::string& name,
                const std::string& host);

  bool Leads() const;
  std::string holder() const;  // "": nobody
  // What the Lease says is known.
  bool synced() const { return watch_.synced(); }

 private:
  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& lease) override;
  void OnDelete(const nlohmann::json& lease) override;

  mutable std::mutex mutex_;
  LeaseJudge judge_;
  kube::ListWatch watch_;  // last: it calls the others
};

}  // namespace crossover::extender
