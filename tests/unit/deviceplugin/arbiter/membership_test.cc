#include "deviceplugin/arbiter/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::arbiter {
namespace {

using ::testing::HasSubstr;

turn::SlotIndex JoinOrFail(Membership* membership, std::string_view gang) {
  const auto outcome = membership->Join(gang);
  EXPECT_TRUE(std::holds_alternative<turn::SlotIndex>(outcome)) << gang;
  return std::get<turn::SlotIndex>(outcome);
}

std::string ReasonOf(Membership* membership, std::string_view gang) {
  const auto outcome = membership->Join(gang);
  const auto* refusal = std::get_if<Membership::Refusal>(&outcome);
  return refusal == nullptr ? "" : refusal->reason;
}

TEST(MembershipTest, GivesEachClientASlotOfItsOwn) {
  Membership membership;
  const turn::SlotIndex a = JoinOrFail(&membership, "a");
  const turn::SlotIndex b = JoinOrFail(&membership, "b");
  EXPECT_NE(a, b);
  EXPECT_TRUE(membership.members().Has(a));
  EXPECT_TRUE(membership.members().Has(b));
  EXPECT_EQ(membership.members().Count(), 2);
  EXPECT_EQ(membership.gang(b), "b");
}

TEST(MembershipTest, OrderIsThatOfTheSortedNamesWhicheverCameFirst) {
  Membership one, other;
  const turn::SlotIndex b = JoinOrFail(&one, "b");
  const turn::SlotIndex a = JoinOrFail(&one, "a");
  const turn::SlotIndex other_a = JoinOrFail(&other, "a");
  const turn::SlotIndex other_b = JoinOrFail(&other, "b");
  EXPECT_EQ(one.Order(a), 0u);
  EXPECT_EQ(one.Order(b), 1u);
  EXPECT_EQ(other.Order(other_a), 0u);
  EXPECT_EQ(other.Order(other_b), 1u);
}

TEST(MembershipTest, OrderClosesUpWhenOneLeaves) {
  Membership membership;
  const turn::SlotIndex c = JoinOrFail(&membership, "c");
  const turn::SlotIndex a = JoinOrFail(&membership, "a");
  EXPECT_EQ(membership.Order(c), 1u);
  membership.Leave(a);
  EXPECT_EQ(membership.Order(c), 0u);
}

TEST(MembershipTest, RefusesASecondClientOfAGangUntilTheFirstHasLeft) {
  Membership membership;
  const turn::SlotIndex a = JoinOrFail(&membership, "a");
  const std::uint32_t generation = membership.generation();
  EXPECT_THAT(ReasonOf(&membership, "a"), HasSubstr("gang a is on this GPU already"));
  EXPECT_EQ(membership.generation(), generation) << "a refusal changes nothing";
  membership.Leave(a);
  JoinOrFail(&membership, "a");
}

TEST(MembershipTest, RefusesWhenAllSlotsAreTaken) {
  Membership membership;
  for (turn::SlotIndex i = 0; i < turn::kMaxSlots; ++i) JoinOrFail(&membership, "gang" + std::to_string(i));
  EXPECT_THAT(ReasonOf(&membership, "late"), HasSubstr("all 15 slots"));
}

TEST(MembershipTest, ReusesTheSlotThatHasBeenFreeTheLongest) {
  Membership membership;
  const turn::SlotIndex first = JoinOrFail(&membership, "a");
  membership.Leave(first);
  for (turn::SlotIndex i = 1; i < turn::kMaxSlots; ++i) {
    const turn::SlotIndex slot = JoinOrFail(&membership, "a");
    EXPECT_NE(slot, first);
    membership.Leave(slot);
  }
  EXPECT_EQ(JoinOrFail(&membership, "a"), first);
}

TEST(MembershipTest, GenerationChangesWithEveryJoinAndLeave) {
  Membership membership;
  const std::uint32_t start = membership.generation();
  const turn::SlotIndex a = JoinOrFail(&membership, "a");
  const std::uint32_t joined = membership.generation();
  EXPECT_NE(joined, start);
  membership.Leave(a);
  EXPECT_NE(membership.generation(), joined);
  const std::uint32_t left = membership.generation();
  membership.Leave(a);
  EXPECT_EQ(membership.generation(), left) << "leaving twice is leaving once";
}

}  // namespace
}  // namespace crossover::arbiter
