#include "examples/trainer/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace crossover::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPlan = R"({
  "iteration_ms": 30, "busy_part": 0.5, "schedule": "1f1b", "microbatches": 3, "sliced_microbatches": 1,
  "slice_cost": 0.1, "compared": {"even": {"iteration_ms": 31}},
  "stages": [{"first_block": "a", "last_block": "b", "begin": 0, "end": 2, "server": "s", "gpu": 0,
              "forward_ms": 4, "backward_ms": 8},
             {"first_block": "c", "last_block": "c", "begin": 2, "end": 3, "server": "s", "gpu": 1,
              "forward_ms": 3, "backward_ms": 6}]})";

// Returns the plan with `what` replaced.
std::string Changed(const std::string& what, const std::string& by) {
  std::string plan = kPlan;
  const std::size_t at = plan.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return plan.replace(at, what.size(), by);
}

Stages Accepted(const std::string& text, std::uint32_t ranks = 2) {
  const auto stages = ReadPlan(text, "plan.json", ranks);
  EXPECT_TRUE(std::holds_alternative<Stages>(stages)) << std::get<UsageError>(stages).text;
  return std::get<Stages>(stages);
}

std::string Refused(const std::string& text, std::uint32_t ranks = 2) {
  const auto stages = ReadPlan(text, "plan.json", ranks);
  return std::holds_alternative<UsageError>(stages) ? std::get<UsageError>(stages).text : "accepted";
}

TEST(StagesTest, APlanSaysBlocksTimesAndSlices) {
  const Stages stages = Accepted(kPlan);
  EXPECT_EQ(stages.kind, pipeline::Kind::kOneForwardOneBackward);
  EXPECT_EQ(stages.microbatches, 3u);
  EXPECT_EQ(stages.sliced, 1u);
  EXPECT_THAT(stages.borders, ElementsAre(0, 2, 3));
  EXPECT_THAT(stages.forward_ms, ElementsAre(2, 2, 3));
  EXPECT_THAT(stages.backward_ms, ElementsAre(4, 4, 6));
  EXPECT_DOUBLE_EQ(ForwardNs(stages, 0, pipeline::Half::kWhole), 2e6);
  EXPECT_DOUBLE_EQ(ForwardNs(stages, 2, pipeline::Half::kFirst), 1.65e6);
  EXPECT_EQ(Accepted(Changed("1f1b", "gpipe")).kind, pipeline::Kind::kGPipe);
}

TEST(StagesTest, APlanThatDoesNotFitIsRefusedByFileKeyAndValue) {
  EXPECT_EQ(Refused(kPlan, 4),
            "plan.json: stages: expected 4 of them, one for each rank (WORLD_SIZE), got 2");
  EXPECT_EQ(Refused(Changed("\"microbatches\": 3", "\"microbatches\": 0")),
            "plan.json: microbatches: expected a whole number from 1 to 1024, got 0");
  EXPECT_EQ(Refused(Changed("\"sliced_microbatches\": 1", "\"sliced_microbatches\": 4")),
            "plan.json: sliced_microbatches: expected a whole number from 0 to 3, got 4");
  EXPECT_EQ(Refused(Changed("\"slice_cost\": 0.1, ", "")),
            "plan.json: slice_cost: expected a number from 0 to 10, got nothing");
  EXPECT_THAT(Refused(Changed("busy_part", "busy")),
              StartsWith("plan.json: busy: expected one of the keys "));
  EXPECT_EQ(Refused(Changed("1f1b", "interleaved")),
            "plan.json: schedule: expected 1f1b or gpipe, got \"interleaved\"");
  EXPECT_EQ(Refused(Changed("\"begin\": 2", "\"begin\": 1")),
            "plan.json: stage 1: begin: expected 2, the end of the stage before, got 1");
  EXPECT_EQ(Refused(Changed("\"end\": 3", "\"end\": 2")),
            "plan.json: stage 1: end: expected a whole number from 3 to 512, got 2");
  EXPECT_EQ(Refused(Changed("\"forward_ms\": 4", "\"forward_ms\": \"4\"")),
            "plan.json: stage 0: forward_ms: expected a number of milliseconds from 0 to 100000, got \"4\"");
  EXPECT_THAT(Refused(Changed("\"gpu\": 1", "\"gpus\": 1")),
              StartsWith("plan.json: stage 1: gpus: expected "));
  EXPECT_THAT(Refused("{"), HasSubstr("plan.json: content: expected JSON"));
  EXPECT_THAT(Refused("[]"), HasSubstr("plan.json: content: expected an object"));
}

TEST(StagesTest, WithoutAPlanRanksHaveEqualNumbersOfBlocks) {
  Options options;
  options.blocks = 7;
  options.block_forward_ms = {2};
  options.block_backward_ms = {1, 2, 3, 4, 5, 6, 7};
  const Stages stages = std::get<Stages>(EvenStages(options, 3));
  EXPECT_THAT(stages.borders, ElementsAre(0, 2, 4, 7));
  EXPECT_THAT(stages.forward_ms, ElementsAre(2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(stages.backward_ms, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(stages.sliced, 0u);
  EXPECT_EQ(std::get<UsageError>(EvenStages(options, 8)).text,
            "--blocks: expected at least one for each of 8 ranks, got 7");
  options.block_forward_ms = {1, 2};
  EXPECT_EQ(std::get<UsageError>(EvenStages(options, 3)).text,
            "--block-forward-ms: expected one time, or one for each of 7 blocks, got 2 of them");
}

TEST(StagesTest, ARankKeepsAsManyMicrobatchesAsItsOrderNeeds) {
  Stages stages;
  stages.borders = {0, 1, 2, 3, 4};
  stages.microbatches = 6;
  stages.sliced = 2;
  for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(SlotsOf(OrderOf(stages, rank)), 4 - rank);
  stages.microbatches = 2;
  EXPECT_EQ(SlotsOf(OrderOf(stages, 0)), 2u);
  stages.microbatches = 6;
  stages.kind = pipeline::Kind::kGPipe;
  EXPECT_EQ(SlotsOf(OrderOf(stages, 3)), 6u);
}

TEST(StagesTest, RanksAgreeOnBordersAndSlices) {
  const Stages stages = Accepted(kPlan);
  EXPECT_EQ(StagesDigest(stages), StagesDigest(Accepted(kPlan)));
  for (const auto& [what, by] :
       {std::pair{"\"sliced_microbatches\": 1", "\"sliced_microbatches\": 0"},
        std::pair{"\"microbatches\": 3", "\"microbatches\": 4"}, std::pair{"\"end\": 3", "\"end\": 4"}})
    EXPECT_NE(StagesDigest(stages), StagesDigest(Accepted(Changed(what, by)))) << what;
}

}  // namespace
}  // namespace crossover::trainer
