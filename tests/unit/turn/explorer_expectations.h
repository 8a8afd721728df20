// States what tests expect of the explorer.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/turn/explorer.h"

namespace crossover::turn::test {

// Expects that all states of the world are explored, and that none has a fault.
inline void ExpectNoFault(const ExplorerOptions& options) {
  const ExplorerResult result = Explore(options);
  EXPECT_TRUE(result.complete) << "more than " << options.max_states << " states";
  EXPECT_EQ(result.fault.value_or(""), "");
  EXPECT_GT(result.completions, 100u);
}

}  // namespace crossover::turn::test
