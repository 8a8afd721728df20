#include "cli/pipeline/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the plan of three blocks on two GPUs with two micro-batches.
PipelinePlan Plan() {
  pipeline::Problem problem;
  for (const char* name : {"embed", "<mlp>", "head"}) {
    pipeline::Block block;
    block.name = name;
    block.forward = 1'000'000;
    block.backward = 2'000'000;
    problem.blocks.push_back(block);
  }
  problem.devices.resize(2);
  problem.microbatches = 2;
  problem.slice_cost = 0.25;
  PipelinePlan plan{.mapping = {.problem = problem, .seats = {{"a", 0}, {"a", 1}}, .division = {}},
                    .others = {{"gpipe", 30'000'000}, {"interleaved_2", pipeline::kNever}},
                    .spans = {}};
  plan.mapping.division = {.borders = {0, 2, 3}, .time = TimeOf(problem, {0, 2, 3})};
  Simulate(problem.shape(), OrdersOf(problem.shape()), CostsOf(problem, {0, 2, 3}), &plan.spans);
  return plan;
}

TEST(PipelineReport, Json) {
  const nlohmann::json json = PipelineJson(Plan());
  EXPECT_EQ(json["iteration_ms"], 13.0);
  EXPECT_DOUBLE_EQ(json["busy_part"].get<double>(), 18.0 / 26);
  EXPECT_EQ(json["schedule"], "1f1b");
  EXPECT_EQ(json["slice_cost"], 0.25);
  EXPECT_EQ(json["stages"].size(), 2u);
  EXPECT_EQ(json["stages"][0], nlohmann::json({{"first_block", "embed"},
                                               {"last_block", "<mlp>"},
                                               {"begin", 0},
                                               {"end", 2},
                                               {"server", "a"},
                                               {"gpu", 0},
                                               {"forward_ms", 2.0},
                                               {"backward_ms", 4.0}}));
  EXPECT_EQ(json["compared"]["gpipe"]["iteration_ms"], 30.0);
  EXPECT_TRUE(json["compared"]["interleaved_2"]["iteration_ms"].is_null());
}

TEST(PipelineReport, Table) {
  const std::string table = PipelineTable(Plan());
  EXPECT_THAT(table, HasSubstr("a/1"));
  EXPECT_THAT(table, HasSubstr("iteration: 13.000 ms, 69.2% of the devices' time is spent on compute; 0 of 2 "
                               "micro-batches have halved forward passes\n"));
  EXPECT_THAT(table, HasSubstr("2.308"));
}

TEST(PipelineReport, PictureHasABoxForEachOperation) {
  PipelinePlan plan = Plan();
  plan.mapping.seats[0].server = "<script>";
  const std::string page = PipelinePicture(plan);
  std::size_t boxes = 0;
  for (std::size_t at = page.find("<rect"); at != std::string::npos; at = page.find("<rect", at + 1)) ++boxes;
  EXPECT_EQ(boxes, 8u);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;/0"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
}

}  // namespace
}  // namespace crossover::cli
