#include "deviceplugin/metrics/reduction_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"
#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> SeriesOf(const std::vector<ReductionsView>& views) {
  const ReductionMetrics metrics([&views] { return views; });
  std::istringstream text(prometheus::TextSerializer().Serialize(metrics.Collect()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.front() != '#') lines.push_back(line);
  }
  return lines;
}

ReductionsView ViewOf(const crossover_reductions& told) {
  const auto member = arbiter::MadeMember(1, "team/a", "GPU-0");
  member->name_space = "team";
  member->pod = "a-0";
  return {member, std::make_shared<const crossover_reductions>(told)};
}

crossover_reductions Asking(base::ShrinkLevel level) {
  crossover_reductions told{};
  told.asked = static_cast<std::uint32_t>(level);
  return told;
}

std::uint32_t& PlainOf(crossover_reductions* told, base::PlainReason reason) {
  return told->plain[static_cast<std::uint32_t>(reason)];
}

TEST(ReductionMetricsTest, SaysWhyAClientIsPlain) {
  crossover_reductions told = Asking(base::ShrinkLevel::kBf16);
  PlainOf(&told, base::PlainReason::kMissingRank) = 1;
  PlainOf(&told, base::PlainReason::kRefusedBefore) = 4;
  const std::string of = R"({gpu_uuid="GPU-0",gang="team/a",namespace="team",pod="a-0",)";
  EXPECT_THAT(SeriesOf({ViewOf(told)}),
              ElementsAre("crossover_reductions_compressed" + of + R"(level="bf16"} 0)",
                          "crossover_reductions_plain_total" + of + R"(reason="missing_rank"} 1)",
                          "crossover_reductions_plain_total" + of + R"(reason="refused_before"} 4)"));
}

TEST(ReductionMetricsTest, SaysWhatIsCompressed) {
  crossover_reductions told = Asking(base::ShrinkLevel::kQ8);
  told.narrowed[static_cast<std::uint32_t>(base::ShrinkLevel::kQ8)] = 2;
  const std::string of = R"({gpu_uuid="GPU-0",gang="team/a",namespace="team",pod="a-0",)";
  EXPECT_THAT(SeriesOf({ViewOf(told)}),
              ElementsAre("crossover_reductions_compressed" + of + R"(level="q8"} 2)"));
}

// Processes may send anything, and a newer library may have more names.
TEST(ReductionMetricsTest, LabelsAreBounded) {
  crossover_reductions told{};
  told.asked = UINT32_MAX;
  for (std::uint32_t& count : told.narrowed) count = 1;
  for (std::uint32_t& count : told.plain) count = 1;
  const std::vector<std::string> series = SeriesOf({ViewOf(told)});
  EXPECT_EQ(series.size(), std::size(base::kShrinkLevels) + 1 + base::kPlainReasons);
  const std::string of = R"({gpu_uuid="GPU-0",gang="team/a",namespace="team",pod="a-0",)";
  const auto others = CROSSOVER_PLAIN_REASONS_MAX - base::kPlainReasons + 1;
  EXPECT_THAT(series, ::testing::Contains("crossover_reductions_plain_total" + of + R"(reason="other"} )" +
                                          std::to_string(others)));
}

TEST(ReductionMetricsTest, AClientThatSaysNothingHasNoSeries) { EXPECT_THAT(SeriesOf({}), IsEmpty()); }

// Users scrape the names, so no two are equal, and none has characters that need quotes.
TEST(PlainReasonTest, EachHasANameAndWords) {
  std::vector<std::string> names;
  for (std::uint32_t reason = 0; reason < base::kPlainReasons; ++reason) {
    const base::PlainReasonText& text = base::TextOf(base::PlainReason{reason});
    EXPECT_THAT(text.name, ::testing::MatchesRegex("[a-z0-9_]+"));
    EXPECT_STRNE(text.words, "");
    EXPECT_THAT(names, ::testing::Not(::testing::Contains(text.name)));
    names.emplace_back(text.name);
  }
  EXPECT_STREQ(base::TextOf(base::PlainReason::kTooLarge).name, "too_large");
  EXPECT_STREQ(base::TextOf(base::PlainReason{base::kPlainReasons}).name, "other");
  EXPECT_STREQ(base::TextOf(base::PlainReason{UINT32_MAX}).name, "other");
}

}  // namespace
}  // namespace crossover::deviceplugin
