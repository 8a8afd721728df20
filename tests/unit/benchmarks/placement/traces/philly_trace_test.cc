#include "benchmarks/placement/traces/philly_trace.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/benchmarks/placement/parsed.h"

namespace crossover::benchmarks {
namespace {

const std::string kPhillyHead = "timestamp,duration,num_gpus,gpu_time,cluster\n";

ModelSteps Steps() {
  ModelSteps steps;
  for (const PhillyModel& model : PhillyModels()) steps[model.name] = {{1, {0.5, 0}}, {8, {0.75, 0.25}}};
  return steps;
}

Trace ParsedPhilly(const std::string& lines, const std::set<std::string>& clusters = {}) {
  std::istringstream text(kPhillyHead + lines);
  return ParsePhilly(text, "p.csv", Steps(), clusters);
}

std::map<int, Step> StepsIn(const std::string& lines, int batch) {
  std::istringstream text("placement,local_bsz,step_time,sync_time\n" + lines);
  return ParseSteps(text, "s.csv", batch);
}

TEST(PhillyTraceTest, LengthGpusAndArrivalAreTheFiles) {
  const Trace trace = ParsedPhilly("2017-10-09 00:00:10,7200,8,57600,a\n2017-10-08 23:59:10,120.0,1,120,b\n");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, 3);
  EXPECT_EQ(trace.jobs[0].submit_s, 0);
  EXPECT_EQ(trace.jobs[1].submit_s, 60);
  EXPECT_EQ(trace.jobs[1].gpus, 8);
  EXPECT_DOUBLE_EQ(trace.jobs[1].length_s(), 7200);
  EXPECT_EQ(trace.jobs[1].iteration_s, 0.75);
  EXPECT_EQ(trace.jobs[1].stage, (std::array<double, 3>{0, 0.5, 0.25}));
}

TEST(PhillyTraceTest, ModelsGoByGpuTime) {
  const auto line = [](int hours) {
    const std::string seconds = std::to_string(hours * 3600 + 100);
    return "2017-10-09 00:00:10," + seconds + ",1," + seconds + ",a\n";
  };
  const Trace trace = ParsedPhilly(line(0) + line(0) + line(9) + line(9) + line(10) + line(100) + line(1000));
  std::string models;
  for (const Job& job : trace.jobs) models += job.model + ' ';
  EXPECT_EQ(models, "cifar10 ncf deepspeech2 bert yolov3 imagenet ");
  EXPECT_EQ(trace.left_out, 1) << "1,000 GPU hours";
}

TEST(PhillyTraceTest, SomeAreLeftOut) {
  const Trace trace = ParsedPhilly(
      "2017-10-09 00:00:10,59,1,59,a\n2017-10-09 00:00:10,60,1,60,a\n2017-10-09 00:00:10,60,32,1920,a\n");
  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.left_out, 2) << "a short one, and one whose GPU count was not measured";
}

TEST(PhillyTraceTest, ClustersAreChosen) {
  const std::string lines = "2017-10-09 00:00:10,60,1,60,a\n2017-10-09 00:00:20,60,1,60,b\n";
  const Trace trace = ParsedPhilly(lines, {"b"});
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].id, 3);
  EXPECT_EQ(FaultOf([&] { ParsedPhilly(lines, {"b", "c"}); }), "p.csv: cluster \"c\" has no job there");
}

TEST(PhillyTraceTest, FaultsAreNamed) {
  const auto said = [](const std::string& line) { return FaultOf([&] { ParsedPhilly(line); }); };
  EXPECT_EQ(said("2016-02-29 23:59:59,60,1,60,a\n"), "");
  for (const std::string bad :
       {"2017-02-29 00:00:10", "2017-10-09T00:00:10", "2017-10-09 24:00:10", "2017-10-09 00:60:10",
        "2017-13-09 00:00:10", "2017-10-9 00:00:10", "yesterday"}) {
    EXPECT_EQ(said(bad + ",60,1,60,a\n"),
              "p.csv:2: timestamp: expected a time such as 2017-10-09 07:01:55, got " + bad);
  }
  EXPECT_EQ(said("2017-10-09 00:00:10,-1,1,60,a\n"),
            "p.csv:2: duration: expected a number from 0 to 1e+15, got -1");
  EXPECT_EQ(said("2017-10-09 00:00:10,60,0,60,a\n"),
            "p.csv:2: num_gpus: expected a whole number from 1 to 100000, got 0");
  EXPECT_EQ(said("2017-10-09 00:00:10,60,1,60\n"), "p.csv:2: columns: expected 5, got 4");
}

TEST(StepsTest, PackedPlacementsWithTheNearestBatch) {
  const std::map<int, Step> steps = StepsIn(
      "1,64,0.1,0\n1,129,0.2,0\n1,182,0.3,0\n"   // the nearest batch
      "4,128,0.4,0.1\n22,128,9,0\n13,128,9,0\n"  // the one on one node
      "24,128,0.5,0.2\n44,128,0.6,0.3\n1114,128,9,0\n",
      128);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps.at(1).step_s, 0.2);
  EXPECT_EQ(steps.at(4).step_s, 0.4);
  EXPECT_EQ(steps.at(6).sync_s, 0.2);
  EXPECT_EQ(steps.at(8).step_s, 0.6);
}

TEST(StepsTest, FaultsAreNamed) {
  const auto said = [](const std::string& line) { return FaultOf([&] { StepsIn(line, 1); }); };
  EXPECT_EQ(said("44,1,0.1,0.1\n"), "");
  const std::string placement =
      "s.csv:2: placement: expected one digit from 1 to 4 for each of up to 16 nodes, got ";
  EXPECT_EQ(said("45,1,0.1,0\n"), placement + "45");
  EXPECT_EQ(said("44444444444444444,1,0.1,0\n"), placement + "44444444444444444");
  EXPECT_EQ(said("4,1,0.1,0.2\n"), "s.csv:2: sync_time: expected a number from 0 to 0.1, got 0.2");
  EXPECT_EQ(said("22,1,0,0\n"), "s.csv:2: step_time: expected a number from 1e-06 to 1e+06, got 0");
}

}  // namespace
}  // namespace crossover::benchmarks
