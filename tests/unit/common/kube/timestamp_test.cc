#include "common/kube/timestamp.h"

#include <gtest/gtest.h>

namespace crossover::kube {
namespace {

TEST(TimestampTest, AsKubernetesWritesThem) {
  EXPECT_EQ(ParseTimestamp("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(ParseTimestamp("2026-11-21T01:44:45Z"), 1795225485);
  EXPECT_EQ(ParseTimestamp("2024-02-29T12:00:00Z"), 1709208000);
  EXPECT_DOUBLE_EQ(ParseTimestamp("2026-11-21T01:44:45.250000Z").value(), 1795225485.25);
  EXPECT_EQ(ParseTimestamp("2026-11-21T03:14:45+01:30"), 1795225485);
  EXPECT_EQ(ParseTimestamp("2026-11-20T20:44:45-05:00"), 1795225485);
}

TEST(TimestampTest, WhatIsNone) {
  for (const char* text :
       {"", "now", "2026-11-21", "2026-11-21T01:44:45", "2026-13-21T01:44:45Z", "2026-02-30T01:44:45Z",
        "2026-11-21T25:44:45Z", "2026-11-21T01:61:45Z", "2026-11-21T01:44:45.Z", "2026-11-21T01:44:45Zz",
        "2026-11-21T01:44:45+1:30", "-026-11-21T01:44:45Z", "2026-11-21T01:44:45+99:00"})
    EXPECT_FALSE(ParseTimestamp(text)) << text;
}

}  // namespace
}  // namespace crossover::kube
