#include "extender/profiles/flows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace crossover::extender {
namespace {

// A FlowSum adds up what each pod sends to each other one.
class FlowSum {
 public:
  bool too_many() const { return sums_.size() > kMostFlows; }

  void Add(const CallGroup& group) {
    const auto ranks = static_cast<double>(group.members.size());
    const auto bytes = static_cast<double>(group.bytes);
    switch (group.function) {
      case NcclFunction::kAllReduce:
      case NcclFunction::kReduceScatter:
      case NcclFunction::kAllGather:
        return AddRing(group.members, api::RingBytes(group.function, ranks, bytes));
      case NcclFunction::kBroadcast:
      case NcclFunction::kReduce:
        return AddChain(group, bytes);
      case NcclFunction::kAlltoAll:
        return AddAllPairs(group.members, bytes);
      case NcclFunction::kGather:
      case NcclFunction::kScatter:
        return AddStar(group, bytes);
      case NcclFunction::kSend:
        return Add(group.members.front(), group.members.back(), bytes);
      case NcclFunction::kRecv:
        return;
    }
  }

  std::vector<placement::Flow> flows() const {
    std::vector<placement::Flow> flows;
    for (const auto& [pair, bytes] : sums_) {
      const double most = std::min(bytes, static_cast<double>(kMostOfFlow));
      flows.push_back({pair.first, pair.second, static_cast<placement::Bytes>(most)});
    }
    return flows;
  }

 private:
  void Add(int from, int to, double bytes) {
    if (from != to) sums_[{from, to}] += bytes;
  }
  void AddRing(const std::vector<int>& members, double bytes) {
    for (std::size_t i = 0; i < members.size(); ++i)
      Add(members[i], members[(i + 1) % members.size()], bytes);
  }
  // The chain goes once around the ring. Broadcast begins at the root, which is the first; Reduce ends there.
  void AddChain(const CallGroup& group, double bytes) {
    const std::vector<int>& members = group.members;
    const std::size_t first = group.function == NcclFunction::kBroadcast ? 0 : 1;
    for (std::size_t i = first; i < first + members.size() - 1; ++i)
      Add(members[i], members[(i + 1) % members.size()], bytes);
  }
  void AddAllPairs(const std::vector<int>& members, double bytes) {
    std::map<int, double> ranks;  // by pod
    for (const int pod : members) ++ranks[pod];
    for (const auto& [from, senders] : ranks) {
      for (const auto& [to, receivers] : ranks) {
        if (too_many()) return;
        Add(from, to, senders * receivers * bytes);
      }
    }
  }
  void AddStar(const CallGroup& group, double bytes) {
    const int root = group.members.front();
    for (std::size_t i = 1; i < group.members.size(); ++i) {
      const int other = group.members[i];
      if (group.function == NcclFunction::kGather)
        Add(other, root, bytes);
      else
        Add(root, other, bytes);
    }
  }

  std::map<std::pair<int, int>, double> sums_;
};

}  // namespace

std::optional<std::vector<placement::Flow>> FlowsOf(std::span<const CallGroup> groups) {
  FlowSum sum;
  for (const CallGroup& group : groups) {
    sum.Add(group);
    if (sum.too_many()) return std::nullopt;
  }
  return sum.flows();
}

placement::Bytes LinkBytesOf(const Communication& communication) {
  if (communication.runs < kRunsThatAgree) return 0;
  std::map<int, placement::Bytes> sent, received;  // by pod
  placement::Bytes most = 0;
  for (const placement::Flow& flow : FlowsOf(communication.groups).value_or(std::vector<placement::Flow>())) {
    most = std::max(most, sent[flow.from] += flow.bytes);
    most = std::max(most, received[flow.to] += flow.bytes);
  }
  return std::min(most, kMostOfFlow);
}

}  // namespace crossover::extender
