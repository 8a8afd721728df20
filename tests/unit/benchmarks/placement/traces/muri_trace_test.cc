#include "benchmarks/placement/traces/muri_trace.h"

#include <gtest/gtest.h>

#include <sstream>

#include "benchmarks/placement/traces/read.h"
#include "tests/unit/benchmarks/placement/parsed.h"

namespace crossover::benchmarks {
namespace {

const std::string kHead =
    "job_id,num_gpu,submit_time,iterations,model_name,iteration_time,resource_time_0,resource_time_1,"
    "resource_time_2\n";

std::string FaultIn(const std::string& lines) {
  return FaultOf([&] {
    std::istringstream text(lines);
    ParseMuri(text, "m.csv");
  });
}

TEST(MuriTraceTest, IsReadInSeconds) {
  const std::vector<Job> jobs = ReadTrace({.path = TRACE}).jobs;
  ASSERT_EQ(jobs.size(), 5u);
  EXPECT_EQ(jobs[3].gpus, 16);
  EXPECT_EQ(jobs[3].submit_s, 20);
  EXPECT_EQ(jobs[2].stage[1], 0.09);
  EXPECT_EQ(jobs[0].length_s(), 1000);
}

TEST(MuriTraceTest, FaultsAreNamed) {
  EXPECT_EQ(FaultIn(kHead + "0,1,0,1,m,100,0,50,50\n"), "");
  EXPECT_EQ(FaultIn(kHead + "0,none,0,1,m,100,0,50,50\n"),
            "m.csv:2: num_gpu: expected a whole number from 1 to 100000, got none");
  EXPECT_EQ(FaultIn(kHead + "\n0,1,0,1,m,nan,0,50,50\n"),
            "m.csv:3: iteration_time: expected a number from 0.001 to 1e+15, got nan");
  EXPECT_EQ(FaultIn(kHead + "0,1,-1,1,m,100,0,50,50\n"),
            "m.csv:2: submit_time: expected a number from 0 to 1e+15, got -1");
  EXPECT_EQ(FaultIn(kHead + "0,1,0,1,,100,0,50,50\n"), "m.csv:2: model_name: expected a text, got \"\"");
  EXPECT_EQ(FaultIn(kHead + "0,1,0\n"), "m.csv:2: columns: expected 9, got 3");
  EXPECT_EQ(FaultIn("job_id,num_gpu\n0,1\n"), "m.csv:2: no column model_name");
  EXPECT_EQ(FaultIn(""), "m.csv: no line with the names of its columns");
}

TEST(MuriTraceTest, AnIdIsOneJobs) {
  const std::string line = "0,1,0,1,m,100,0,50,50\n";
  EXPECT_EQ(FaultIn(kHead + line + line), "m.csv:3: job_id: expected one that no earlier line has, got 0");
}

TEST(ReadTraceTest, WhatIsMissingIsNamed) {
  const auto said = [](const Source& source) { return FaultOf([&] { ReadTrace(source); }); };
  EXPECT_EQ(said({.path = "/nowhere.csv"}), "/nowhere.csv: cannot be read, or is empty");
  EXPECT_EQ(said({.path = "/"}), "/: cannot be read, or is empty");
  EXPECT_EQ(said({.path = TRACE, .format = "gavel"}),
            "format gavel: expected --throughputs=FILE.json, got none");
  EXPECT_EQ(said({.path = TRACE, .format = "philly"}),
            "format philly: expected --placements=DIRECTORY, got none");
  EXPECT_EQ(said({.path = TRACE, .format = "muri "}), "format: expected muri, gavel or philly, got muri ");
  EXPECT_EQ(said({.path = TRACE, .format = "philly", .placements = "/nowhere"}),
            "/nowhere/simulator_traces_bert_placements.csv: cannot be read, or is empty");
}

}  // namespace
}  // namespace crossover::benchmarks
