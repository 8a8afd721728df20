#include "common/metrics/build_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

namespace crossover::metrics {
namespace {

TEST(BuildInfoTest, TheVersionIsALabelOfOne) {
  EXPECT_THAT(
      prometheus::TextSerializer().Serialize(BuildInfo("0.1.0").Collect()),
      testing::EndsWith("# TYPE crossover_build_info gauge\ncrossover_build_info{version=\"0.1.0\"} 1\n"));
}

}  // namespace
}  // namespace crossover::metrics
