#include "extender/placement/memory.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

TEST(CapTest, DeclaredElseMeasuredWithAMarginElseNone) {
  Gang gang = Job("g");
  gang.profile.peak_memory = 10 * kGib;
  EXPECT_EQ(CapOf(gang, {}), 20 * kGib);
  gang.memory_cap = 0;
  EXPECT_EQ(CapOf(gang, {}), 11 * kGib);
  gang.profile.peak_memory = 1;
  EXPECT_EQ(CapOf(gang, {}), 16u << 20) << "the least that can be enforced";
  gang.profile.peak_memory = 0;
  EXPECT_EQ(CapOf(gang, {}), 0u) << "no run has shown it";
  gang.profile.source = Source::kUnknown;
  gang.profile.peak_memory = 10 * kGib;
  EXPECT_EQ(CapOf(gang, {}), 0u);
  gang.profile.source = Source::kHinted;
  gang.profile.peak_memory = 10 * kGib;
  EXPECT_EQ(CapOf(gang, {}), 11 * kGib) << "a user said it, and it is enforced";
}

TEST(MemoryTest, IsTheSumWithContexts) {
  const Gang a = Job("a"), b = Job("b");
  const std::array both{&a, &b};
  EXPECT_EQ(MemoryOf(both, {}), 41 * kGib);
}

}  // namespace
}  // namespace crossover::placement
