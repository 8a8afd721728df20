// Keeps the JobProfiles up to date with what the nodes report about their jobs. No other program writes
// their status. It works while this replica leads, on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/kube/client.h"
#include "common/threads/periodic_task.h"
#include "extender/cluster/model.h"
#include "extender/profiles/changes.h"
#include "extender/profiles/communication.h"

namespace crossover::extender {

class ProfileKeeper {
 public:
  // A round writes or removes at most this many profiles; the others wait for the next round.
  static constexpr std::size_t kMostOfRound = 50;

  struct Dependencies {
    // The keeper's thread calls all of these. `jobs` returns the jobs of all nodes, or nothing while the
    // cluster is not known. `order` returns the places of the pods that jobs name in what they call, as far
    // as they are known; if it is empty, no communication is kept. `places` returns if all nodes are; if it
    // is empty, no times of uplinks are kept. `is_there` says whether a profile with that namespace and key
    // exists now; it may be empty.
    std::function<bool()> leads;
    std::function<std::optional<std::vector<GpuNode::Job>>()> jobs;
    std::function<PodOrder(std::span<const GpuNode::Job>)> order{};
    std::function<NodePlaces()> places{};
    std::function<bool(const ProfileId&)> is_there{};
    // Called after a profile was written whose latest run has a rank that has become slow. May be empty.
    std::function<void(const ProfileId&, const ProfileRun&)> tell_slow{};
    std::chrono::milliseconds period{10'000};
    std::function<double()> now_s;  // seconds since 1970; empty: the system clock
  };

  ProfileKeeper(kube::Access access, const ProfileSettings& settings, Dependencies around);
  // Ends the request that is under way.
  ~ProfileKeeper() { client_.Stop(); }

  std::uint64_t written() const { return written_; }
  std::uint64_t failures() const { return failures_; }
  std::uint64_t removed() const { return removed_; }

 private:
  void Round();
  bool ReadAll(double now_s);
  void RemoveDuplicates(const std::vector<ProfileChange>& to_come, std::size_t done);
  bool Carry(const ProfileChange& change);
  // Returns the HTTP status of the answer.
  long Apply(const ProfileChange& change, const std::string& part, const std::string& body);
  void Complain(const std::string& object, const std::string& complaint);

  kube::Client client_;
  const ProfileSettings settings_;
  const Dependencies around_;
  std::atomic<std::uint64_t> written_{0}, failures_{0}, removed_{0};
  // The keeper's thread alone uses these.
  ProfileRecords known_;  // as last written
  ProfileRecords merged_;
  // These are profiles of ours beside another profile with the same key. The keeper removes them.
  std::vector<ProfileChange> duplicates_;
  // `read_s_` is when all profiles were last read. It is empty until that happens under this leadership.
  std::optional<double> read_s_;
  std::map<ProfileId, double> tried_s_;  // last attempt to write each profile
  std::string complaint_;
  threads::PeriodicTask task_;  // last: uses the members above
};

}  // namespace crossover::extender
