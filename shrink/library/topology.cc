#include "shrink/library/topology.h"

#include <algorithm>

#include "common/base/hash.h"

namespace crossover::shrink::library {
namespace {

using vote::As;
using vote::MakeReason;
using vote::PlainReason;

// Returns how many of the first members are on the node of the first one.
std::size_t RanksOfFirstNode(std::span<const Member> members) {
  std::size_t ranks = 1;
  while (ranks < members.size() && members[ranks].node == members[0].node) ++ranks;
  return ranks;
}

// Returns whether the node of the ranks from `begin` on has been there before.
bool IsKnown(std::span<const Member> members, std::size_t begin, std::size_t per_node) {
  for (std::size_t other = 0; other < begin; other += per_node) {
    if (members[other].node == members[begin].node) return true;
  }
  return false;
}

}  // namespace

vote::Reason WhyNotExchanged(const char* level, std::span<const Member> members, std::size_t rank,
                             Position* position) {
  for (std::size_t r = 0; r < members.size(); ++r) {
    if (members[r].seed != members[0].seed || members[r].layout != members[0].layout)
      return MakeReason(
          "%s: expected the unique ID and the library's version of rank 0 on all ranks, got others on rank "
          "%zu",
          level, r);
    if (members[r].error != members[0].error)
      return As(PlainReason::kOtherError,
                MakeReason("CROSSOVER_SHRINK_ERROR: expected %llu, that of rank 0, on all ranks, got %llu on "
                           "rank %zu",
                           static_cast<unsigned long long>(members[0].error),
                           static_cast<unsigned long long>(members[r].error), r));
  }
  const std::size_t per_node = RanksOfFirstNode(members);
  if (per_node == members.size())
    return As(PlainReason::kOneNode,
              MakeReason("%s: expected ranks on several nodes, got all %zu on one; bf16 runs on any", level,
                         per_node));
  for (std::size_t begin = 0; begin < members.size(); begin += per_node) {
    const std::size_t end = std::min(begin + per_node, members.size());
    const bool whole = RanksOfFirstNode(members.subspan(begin)) == per_node && end - begin == per_node;
    if (!whole || IsKnown(members, begin, per_node))
      return As(
          PlainReason::kUnevenNodes,
          MakeReason("%s: expected %zu ranks on each node, one after the other, got others from rank %zu on; "
                     "bf16 runs on any",
                     level, per_node, begin));
  }
  position->nodes = static_cast<std::uint32_t>(members.size() / per_node);
  position->per_node = static_cast<std::uint32_t>(per_node);
  position->node = static_cast<std::uint32_t>(rank / per_node);
  position->place = static_cast<std::uint32_t>(rank % per_node);
  return {};
}

std::uint64_t NodeOf(std::span<const char> name) { return base::Hash({name.data(), name.size()}); }

std::uint64_t SeedOf(const vote::Id& id) {
  return base::Hash({reinterpret_cast<const char*>(id.data()), id.size()});
}

}  // namespace crossover::shrink::library
