#include "common/logging/log.h"

#include <gtest/gtest.h>

namespace crossover::logging {
namespace {

TEST(LogTest, AsText) { EXPECT_EQ(Line(Format::kText, "T", Level::kWarn, "a b"), "T warn a b\n"); }

TEST(LogTest, AsJsonWhateverItSays) {
  EXPECT_EQ(Line(Format::kJson, "T", Level::kError, "a \"b\" \\ c\n\xe4"),
            "{\"time\":\"T\",\"level\":\"error\",\"message\":\"a \\\"b\\\" \\\\ c\\u000a\\u00e4\"}\n");
}

}  // namespace
}  // namespace crossover::logging
