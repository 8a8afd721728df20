// Tests which ranks exchange with 8 bits, and how they are divided.
#include "shrink/library/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crossover::shrink::library {
namespace {

std::vector<Member> MembersOn(const std::string& nodes) {
  std::vector<Member> members;
  for (const char& node : nodes) members.push_back({NodeOf({&node, 1}), 7, kLayout});
  return members;
}

std::string WhyNotOf(const std::vector<Member>& members, const char* level = "q8") {
  std::string text;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    Position position;
    const vote::Reason reason = WhyNotExchanged(level, members, rank, &position);
    if (rank == 0) text = reason.text;
    EXPECT_EQ(text, reason.text);  // all ranks come to the same answer
  }
  return text;
}

TEST(TopologyTest, EqualNodesOfRanksThatFollowEachOther) {
  for (const std::string nodes : {"ab", "aabb", "abc", "aaabbb", "ccaabb"}) {
    const auto members = MembersOn(nodes);
    const auto per_node = static_cast<std::uint32_t>(nodes.find_first_not_of(nodes[0]));
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
      Position position;
      EXPECT_STREQ(WhyNotExchanged("q8", members, rank, &position).text, "") << nodes;
      EXPECT_EQ(position.per_node, per_node);
      EXPECT_EQ(position.nodes * per_node, members.size());
      EXPECT_EQ(position.node * per_node + position.place, rank);
      EXPECT_LT(position.place, per_node);
    }
  }
}

TEST(TopologyTest, OneNode) {
  for (const std::string nodes : {"a", "aa", "aaaa"})
    EXPECT_EQ(WhyNotOf(MembersOn(nodes)), "q8: expected ranks on several nodes, got all " +
                                              std::to_string(nodes.size()) + " on one; bf16 runs on any");
}

TEST(TopologyTest, NodesThatDiffer) {
  const auto why = [](const char* each, const char* from) {
    return std::string("q8: expected ") + each +
           " ranks on each node, one after the other, got others from rank " + from + " on; bf16 runs on any";
  };
  EXPECT_EQ(WhyNotOf(MembersOn("aab")), why("2", "2"));
  EXPECT_EQ(WhyNotOf(MembersOn("abb")), why("1", "1"));
  EXPECT_EQ(WhyNotOf(MembersOn("aabbb")), why("2", "2"));
  EXPECT_EQ(WhyNotOf(MembersOn("aabbc")), why("2", "4"));
  EXPECT_EQ(WhyNotOf(MembersOn("abab")), why("1", "2"));
  EXPECT_EQ(WhyNotOf(MembersOn("aabbaa")), why("2", "4"));
  EXPECT_EQ(WhyNotOf(MembersOn("abb")), why("1", "1"));
}

TEST(TopologyTest, AnotherSeedOrLayout) {
  auto members = MembersOn("aabb");
  members[2].seed = 8;
  EXPECT_EQ(
      WhyNotOf(members),
      "q8: expected the unique ID and the library's version of rank 0 on all ranks, got others on rank 2");
  members = MembersOn("aabb");
  members[3].layout = kLayout + 1;
  EXPECT_EQ(
      WhyNotOf(members),
      "q8: expected the unique ID and the library's version of rank 0 on all ranks, got others on rank 3");
}

TEST(TopologyTest, AnotherError) {
  auto members = MembersOn("aabb");
  for (Member& member : members) member.error = 100;
  EXPECT_EQ(WhyNotOf(members, "adaptive"), "");
  members[1].error = 50;
  EXPECT_EQ(WhyNotOf(members, "adaptive"),
            "CROSSOVER_SHRINK_ERROR: expected 100, that of rank 0, on all ranks, got 50 on rank 1");
}

TEST(TopologyTest, TheReasonNamesTheLevel) {
  EXPECT_EQ(WhyNotOf(MembersOn("aa"), "adaptive"),
            "adaptive: expected ranks on several nodes, got all 2 on one; bf16 runs on any");
}

TEST(TopologyTest, EachByteOfAnIdCountsForTheSeed) {
  vote::Id id{};
  const std::uint64_t seed = SeedOf(id);
  for (std::size_t i = 0; i < id.size(); ++i) {
    vote::Id other = id;
    other[i] = 1;
    EXPECT_NE(SeedOf(other), seed) << i;
  }
}

}  // namespace
}  // namespace crossover::shrink::library
