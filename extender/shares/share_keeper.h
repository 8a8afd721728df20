// Keeps the shares of the batch of the jobs that ask for them: it writes their weights on their pods, in
// crossover.dev/status-batch-shares, which containers see as a file. It works while this replica leads, on a
// thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/threads/periodic_task.h"
#include "extender/gang/api.h"
#include "extender/shares/share_jobs.h"

namespace crossover::extender {

class ShareKeeper {
 public:
  struct Dependencies {
    // The keeper's thread calls these. `jobs` returns nothing while the cluster is not known.
    std::function<bool()> leads;
    std::function<std::optional<std::vector<ShareJob>>()> jobs;
    std::function<double()> now_s;  // seconds since 1970
    std::chrono::milliseconds period{5'000};
  };

  // REQUIRES: `api` outlives it.
  ShareKeeper(Api& api, const ShareSettings& settings, Dependencies around);

  std::uint64_t changes() const { return changes_; }
  std::uint64_t withdrawals() const { return withdrawals_; }
  std::uint64_t failures() const { return failures_; }  // writes that the API server did not take

 private:
  void Round();
  void Keep(const ShareJob& job, double now_s);
  void Write(const ShareJob& job, const std::string& text);
  void Tell(const ShareJob& job, const ShareDecision& decision, const ShareState& state);

  Api& api_;
  const ShareSettings settings_;
  const Dependencies around_;
  std::atomic<std::uint64_t> changes_{0}, withdrawals_{0}, failures_{0};
  std::map<std::string, ShareState> states_;  // by the job's id; the keeper's thread alone uses it
  threads::PeriodicTask task_;                // last: uses the members above
};

}  // namespace crossover::extender
