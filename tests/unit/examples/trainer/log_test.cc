#include "examples/trainer/log.h"

#include <gtest/gtest.h>

namespace crossover::trainer {
namespace {

TEST(LogTest, LinesAreAsDocumented) {
  EXPECT_EQ(IterationLine(2, {12, 100, 300, 150}, 1.5f),
            "{\"rank\":2,\"iteration\":12,\"begin_ns\":100,\"end_ns\":300,\"compute_ns\":150,"
            "\"loss\":\"0x1.8p+0\"}\n");
  Summary summary;
  summary.variant = "plain";
  summary.stream = "legacy";
  summary.kernels = "fatbin";
  summary.iterations = 5;
  summary.losses_digest = 0xab;
  EXPECT_EQ(SummaryLine(0, summary),
            "{\"rank\":0,\"summary\":{\"variant\":\"plain\",\"stream\":\"legacy\",\"iterations\":5,"
            "\"interrupted\":false,\"median_step_ns\":0,\"median_compute_ns\":0,\"kernels_per_iteration\":0,"
            "\"gradient_bytes\":0,\"early_bytes\":0,\"losses_digest\":\"00000000000000ab\","
            "\"parameters_digest\":\"0000000000000000\",\"accuracy\":0.000000,\"kernels\":\"fatbin\"}}\n");
  summary.reduction = "q8";
  EXPECT_NE(SummaryLine(0, summary).find("\"early_bytes\":0,\"reduction\":\"q8\",\"losses_digest\""),
            std::string::npos);
}

TEST(LogTest, MedianIsTheMiddle) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({5}), 5);
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({9, 1, 5, 7}), 5);
}

TEST(LogTest, LinkTimeIsThatOfARing) {
  EXPECT_DOUBLE_EQ(LinkSeconds(4, 64'000, 8e6), 0.012);
  EXPECT_DOUBLE_EQ(LinkSeconds(1, 64'000, 8e6), 0);
}

TEST(LogTest, TheRankIsPutIntoThePath) {
  EXPECT_EQ(LogPath("/tmp/{rank}/log-{rank}.jsonl", 3), "/tmp/3/log-3.jsonl");
  EXPECT_EQ(LogPath("/tmp/log", 3), "/tmp/log");
}

}  // namespace
}  // namespace crossover::trainer
