#include "extender/profiles/communication.h"

#include <algorithm>
#include <set>

#include "common/base/same_run.h"

namespace crossover::extender {
namespace {

using base::kSameRunS;

// A Sum of groups adds up those of the same function and members.
class GroupSum {
 public:
  void Add(NcclFunction function, std::vector<int> members, std::uint64_t bytes) {
    if (bytes == 0) return;
    std::uint64_t& sum = sums_[{function, std::move(members)}];
    sum = std::min(sum + bytes, kMostCallBytes);
  }
  // Moves the sums into `joined`. It is not complete if there are too many.
  void MoveTo(JoinedCalls* joined) {
    std::size_t members = 0;
    while (!sums_.empty()) {
      auto sum = sums_.extract(sums_.begin());
      members += sum.key().second.size();
      if (joined->groups.size() == kMostCallGroups || members > kMostMembers) {
        joined->complete = false;
        return;
      }
      joined->groups.push_back({sum.key().first, std::move(sum.key().second), sum.mapped()});
    }
  }

 private:
  std::map<std::pair<NcclFunction, std::vector<int>>, std::uint64_t> sums_;
};

// A Communicator collects what its ranks say.
class Communicator {
 public:
  void Add(const NcclCall& call, int pod) {
    if (size_ == 0) size_ = call.size;
    const int place = pod_of_.try_emplace(call.rank, pod).first->second;
    const bool is_new =
        bytes_[{call.function, call.peer.value_or(0)}].try_emplace(call.rank, call.bytes).second;
    if (call.size != size_ || place != pod || !is_new) sound_ = false;
  }
  // Makes sure that nothing of it counts.
  void Spoil() { sound_ = false; }

  // Adds its groups. Returns whether it has all that it should have.
  bool AddTo(GroupSum* sum) const {
    if (!sound_ || pod_of_.size() != static_cast<std::size_t>(size_)) return false;
    bool complete = true;
    for (const auto& [call, by_rank] : bytes_) complete &= Add(call.first, call.second, by_rank, sum);
    return complete;
  }

 private:
  using ByRank = std::map<int, std::uint64_t>;

  // Adds the groups of one function, with one peer if it has a peer. Returns whether it has the calls of all
  // ranks; for sends and receives it always returns true.
  bool Add(NcclFunction function, int peer, const ByRank& by_rank, GroupSum* sum) const {
    if (function == NcclFunction::kRecv) return true;
    if (function == NcclFunction::kSend) {
      for (const auto& [rank, bytes] : by_rank)
        sum->Add(function, {pod_of_.at(rank), pod_of_.at(peer)}, bytes);
      return true;
    }
    if (by_rank.size() != pod_of_.size()) return false;
    std::uint64_t most = 0;
    for (const auto& [rank, bytes] : by_rank) most = std::max(most, bytes);
    sum->Add(function, MembersFrom(HasRoot(function) ? peer : 0), most);
    return true;
  }

  std::vector<int> MembersFrom(int first) const {
    std::vector<int> members;
    for (const auto& [rank, pod] : pod_of_) members.push_back(pod);
    std::rotate(members.begin(), members.begin() + first, members.end());
    return members;
  }

  int size_ = 0;  // 0: nothing was added
  bool sound_ = true;
  std::map<int, int> pod_of_;                               // by rank
  std::map<std::pair<NcclFunction, int>, ByRank> bytes_{};  // by function and peer
};

// Returns the indices of the pods of these calls, by name. A pod that has no place is missing.
std::map<std::string, int> IndicesOf(std::span<const NcclCall* const> calls, const std::string& name_space,
                                     const PodOrder& order) {
  std::set<std::pair<std::size_t, std::string>> sorted;
  for (const NcclCall* call : calls) {
    const auto place = order.find({name_space, call->pod});
    if (place != order.end()) sorted.emplace(place->second, call->pod);
  }
  std::map<std::string, int> indices;
  for (const auto& [place, pod] : sorted) indices.emplace(pod, static_cast<int>(indices.size()));
  return indices;
}

bool IsNear(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t more = std::max(a, b), less = std::min(a, b);
  return static_cast<double>(more - less) <= kSameBytes * static_cast<double>(more);
}

// Returns whether `known` was counted of this run. Its beginning may have been found to be earlier since.
bool IsOf(const JobProfile::Run& run, const Communication& known) {
  return known.gang == run.gang && known.began_s >= run.began_s - kSameRunS &&
         known.began_s <= run.at_s + kSameRunS;
}

}  // namespace

JoinedCalls JoinCalls(std::span<const NcclCall* const> calls, const std::string& name_space,
                      const PodOrder& order) {
  const std::map<std::string, int> indices = IndicesOf(calls, name_space, order);
  std::map<std::uint64_t, Communicator> communicators;
  for (const NcclCall* call : calls) {
    Communicator& communicator = communicators[call->communicator];
    const auto pod = indices.find(call->pod);
    if (pod == indices.end()) {
      communicator.Spoil();
    } else {
      communicator.Add(*call, pod->second);
    }
  }
  JoinedCalls joined{.names = std::vector<std::string>(indices.size()),
                     .groups = {},
                     .complete = indices.size() <= kMostMembers};
  for (const auto& [name, index] : indices) joined.names[static_cast<std::size_t>(index)] = name;
  GroupSum sum;
  for (const auto& [number, communicator] : communicators) joined.complete &= communicator.AddTo(&sum);
  sum.MoveTo(&joined);
  return joined;
}

bool Agree(const Communication& a, const Communication& b) {
  return a.pods == b.pods &&
         std::ranges::equal(a.groups, b.groups, [](const CallGroup& one, const CallGroup& other) {
           return one.function == other.function && one.members == other.members &&
                  IsNear(one.bytes, other.bytes);
         });
}

void CountRun(const JoinedCalls& calls, const JobProfile::Run& run, Communication* known) {
  if (!calls.complete || calls.groups.empty()) return;
  Communication seen{
      .pods = calls.pods(), .runs = 1, .gang = run.gang, .began_s = run.began_s, .groups = calls.groups};
  const bool agrees = Agree(*known, seen);
  if (known->runs > 0) {
    const bool same = IsOf(run, *known);
    if (same ? agrees : run.began_s <= known->began_s) return;
    if (!same && agrees) seen.runs = known->runs + 1;
    if (agrees) seen.compute_s = std::move(known->compute_s);
  }
  *known = std::move(seen);
}

std::vector<double> ComputeOfPods(const std::vector<std::string>& names,
                                  std::span<const GpuNode::Job* const> nodes, const GpuSpeeds& speeds) {
  std::map<std::string, double> by_pod;
  for (const GpuNode::Job* job : nodes) {
    for (const GpuNode::Rank& rank : job->ranks) {
      const auto speed = speeds.find(rank.model);
      if (speed == speeds.end()) return {};
      double& longest = by_pod[rank.pod];
      longest = std::max(longest, rank.compute_s * speed->second);
    }
  }
  std::vector<double> computes;
  for (const std::string& name : names) {
    const auto found = by_pod.find(name);
    if (found == by_pod.end()) return {};
    computes.push_back(found->second);
  }
  return computes;
}

std::vector<double> SpeedsOfPods(const std::vector<std::string>& names,
                                 std::span<const GpuNode::Job* const> nodes, const GpuSpeeds& speeds) {
  std::map<std::string, double> by_pod;
  for (const GpuNode::Job* job : nodes) {
    for (const GpuNode::Rank& rank : job->ranks) {
      const auto known = speeds.find(rank.model);
      const double speed = known == speeds.end() ? 0 : known->second;
      const auto [slowest, is_new] = by_pod.try_emplace(rank.pod, speed);
      slowest->second = std::min(slowest->second, speed);
    }
  }
  std::vector<double> of_pods;
  for (const std::string& name : names) {
    const auto found = by_pod.find(name);
    of_pods.push_back(found == by_pod.end() ? 0 : found->second);
  }
  return of_pods;
}

void KeepCompute(std::vector<double> seen, const JobProfile::Run& run, Communication* known) {
  if (seen.size() != static_cast<std::size_t>(known->pods) || !IsOf(run, *known)) return;
  const auto is_near = [](double a, double b) {
    return std::max(a, b) - std::min(a, b) <= kSameCompute * std::max(a, b);
  };
  if (!std::ranges::equal(known->compute_s, seen, is_near)) known->compute_s = std::move(seen);
}

}  // namespace crossover::extender
