// Keeps the JobProfiles up to date with what nodes say of their jobs; nobody else writes their status. Works
// while it leads, on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/client.h"
#include "common/threads/rounds.h"
#include "extender/cluster/model.h"
#include "extender/profiles/changes.h"

namespace crossover::extender {

class ProfileKeeper {
 public:
  static constexpr std::size_t kMostOfRound = 50;  // requests that write; the others come later

  struct Surroundings {
    // All are called on its thread. `jobs`: of all nodes, or nothing while the cluster is not known yet.
    // `is_there`: whether a profile with that namespace and key is known now; empty: nobody says.
    std::function<bool()> leads;
    std::function<std::optional<std::vector<GpuNode::Job>>()> jobs;
    std::function<bool(const ProfileId&)> is_there{};
    std::chrono::milliseconds period{10'000};
    std::function<double()> now_s;  // since 1970; empty: the clock
  };

  ProfileKeeper(kube::Access access, const ProfileSettings& settings, Surroundings around);
  // Requests that are under way are ended.
  ~ProfileKeeper() { client_.Stop(); }

  std::uint64_t written() const { return written_; }
  std::uint64_t failures() const { return failures_; }
  std::uint64_t removed() const { return removed_; }

 private:
  void Round();
  bool ReadAll(double now_s);
  void RemoveDuplicates(const std::vector<ProfileChange>& to_come, std::size_t done);
  bool Carry(const ProfileChange& change);
  long Apply(const std::string& path, const std::string& body);  // the answer's status
  void Complain(const std::string& complaint);

  kube::Client client_;
  const ProfileSettings settings_;
  const Surroundings around_;
  std::atomic<std::uint64_t> written_{0}, failures_{0}, removed_{0};
  // Of the thread alone.
  ProfileRecords known_;  // as they were written last
  ProfileRecords merged_;
  std::vector<ProfileChange> duplicates_;  // of ours, beside one of a user's with the same key: to be removed
  std::optional<double> read_s_;           // all of them; nothing: not since it leads
  std::map<ProfileId, double> tried_s_;    // when each was written last
  std::string complaint_;
  threads::Rounds rounds_;  // last: it uses the others
};

}  // namespace crossover::extender
