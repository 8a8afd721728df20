// Follows what drivers of dynamic resource allocation give out on this node: their ResourceSlices, and, once
// such a driver was seen here, the ResourceClaims of the cluster. Thread-safe.
//
//   GET /apis/resource.k8s.io --> version --> watch of slices --> a slice with GPUs --> watch of claims
//
// A cluster without that API has no such drivers. The watch asks again every ten minutes, because an upgrade
// of the cluster brings the API.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/client.h"
#include "common/kube/list_watch.h"
#include "common/threads/periodic_task.h"
#include "deviceplugin/inventory/competing_dra_drivers.h"

namespace crossover::deviceplugin {

class DraWatch {
 public:
  // A driver whose slices are gone counts for this long, in ns. A kubelet removes the slices of its node when
  // it starts, and drivers make them again some seconds later.
  static constexpr std::int64_t kStays = 60'000'000'000;
  // The rest of the daemon waits this long, in ns, for the first answer of the API server.
  static constexpr std::int64_t kPatience = 10'000'000'000;

  // `node` is the name of the node. `period` is the time between two looks for the API.
  DraWatch(kube::Access access, std::string node,
           std::chrono::milliseconds period = std::chrono::minutes(10));
  ~DraWatch();

  // Returns whether it is known which drivers there are. Returns true, too, if the API server has not said so
  // for kPatience: it may refuse to, and this node shall not stand still for that. The log then says why.
  bool known() const;
  // Returns the GPUs of `uuids` that drivers give out, or have given out, with the reason to withhold them.
  // `now` is base::MonotonicNs().
  std::map<std::string, base::WithheldReason> Find(const std::vector<std::string>& uuids, std::int64_t now);

 private:
  // Keeps the objects of one kind, each as `Read` makes it.
  template <class Object, Object (*Read)(const nlohmann::json&)>
  class Kept;
  using Slices = Kept<DraSlice, ReadSlice>;
  using Claims = Kept<DraClaim, ReadClaim>;

  void Round();
  void Follow(const std::string& version);
  void FollowClaims();

  const kube::Access access_;
  const std::string node_;
  const std::int64_t begun_;
  kube::Client client_;
  const std::unique_ptr<Slices> slices_;
  const std::unique_ptr<Claims> claims_;
  mutable std::mutex mutex_;  // guards the members below, up to `task_`
  std::string version_;       // version of the API that is followed; empty: none
  bool lacks_api_ = false;    // the API server has no such API
  std::string complaint_;
  DraDevices devices_;
  std::vector<DraSlice> last_;  // the slices of this node, as they were when there were any
  std::int64_t last_at_ = 0;    // when there were any last
  std::unique_ptr<kube::ListWatch> watch_of_slices_;
  std::unique_ptr<kube::ListWatch> watch_of_claims_;
  threads::PeriodicTask task_;  // must be the last member: its thread uses the others
};

}  // namespace crossover::deviceplugin
