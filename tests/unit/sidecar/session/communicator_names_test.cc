// Tests by which number all ranks know a communicator.
#include "sidecar/session/communicator_names.h"

#include <gtest/gtest.h>

#include <array>

namespace crossover::session {
namespace {

constexpr std::array<char, 70> kHandles{};

// Plays one rank: its handles are its own.
class Rank {
 public:
  explicit Rank(int first) : first_(first) { names_.Add(At(0), 77); }
  const void* At(int communicator) const {
    return &kHandles.at(static_cast<std::size_t>(first_ + communicator));
  }
  std::uint64_t Split(int parent, int child, int color) {
    names_.Derive(At(parent), child == 0 ? nullptr : At(child), color);
    return child == 0 ? 0 : names_.Find(At(child));
  }
  CommunicatorNames& names() { return names_; }

 private:
  int first_;
  CommunicatorNames names_;
};

TEST(CommunicatorNamesTest, TheSameIdGivesTheSameNumber) {
  const std::array<char, 128> id = {1, 2, 3}, other = {1, 2, 4};
  EXPECT_EQ(CommunicatorNames::NumberOf(id), CommunicatorNames::NumberOf(id));
  EXPECT_NE(CommunicatorNames::NumberOf(id), CommunicatorNames::NumberOf(other));
}

TEST(CommunicatorNamesTest, SplitsAreToldApartByOrderAndColor) {
  Rank first(0), second(10);
  const std::uint64_t even = first.Split(0, 1, 0);
  EXPECT_EQ(second.Split(0, 1, 0), even) << "the same split, the same color";
  EXPECT_NE(even, 0u);
  EXPECT_NE(first.Split(0, 2, 1), even);
  EXPECT_NE(first.Split(0, 3, 0), even) << "a later split";
  EXPECT_NE(first.names().Find(first.At(0)), even);
  EXPECT_NE(first.Split(1, 4, 0), even) << "of a child";
}

TEST(CommunicatorNamesTest, ASplitWithoutAChildCounts) {
  Rank first(0), second(10);
  first.Split(0, 0, -1);
  second.Split(0, 1, 0);
  EXPECT_EQ(first.Split(0, 2, 1), second.Split(0, 2, 1));
}

TEST(CommunicatorNamesTest, AHandleThatIsGivenOutAgainHasNoNumber) {
  Rank rank(0);
  rank.names().Remove(rank.At(0));
  EXPECT_EQ(rank.names().Find(rank.At(0)), 0u);
  EXPECT_EQ(rank.Split(0, 1, 0), 0u) << "its parent is not known";
}

TEST(CommunicatorNamesTest, WithoutRoomACommunicatorHasNoNumber) {
  CommunicatorNames names;
  for (std::size_t i = 0; i < kHandles.size(); ++i) names.Add(&kHandles.at(i), i + 1);
  EXPECT_EQ(names.Find(kHandles.data()), 1u);
  EXPECT_EQ(names.Find(&kHandles.back()), 0u);
  names.Remove(kHandles.data());
  names.Add(&kHandles.back(), 5);
  EXPECT_EQ(names.Find(&kHandles.back()), 5u);
}

}  // namespace
}  // namespace crossover::session
