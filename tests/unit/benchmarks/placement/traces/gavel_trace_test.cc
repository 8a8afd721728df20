#include "benchmarks/placement/traces/gavel_trace.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/benchmarks/placement/parsed.h"

namespace crossover::benchmarks {
namespace {

const char kRates[] = R"json({"v100": {
  "('Net (batch size 8)', 1)": {"null": 4, "('Net (batch size 8)', 1)": [2, 2]},
  "('Net (batch size 8)', 2)": {"null": 5},
  "('Net (batch size 8)', 4)": {"null": 20},
  "('A3C', 1)": {"null": 10},
  "('A3C', 2)": {"null": 0}
}, "k80": 3})json";

Trace Parsed(const std::string& lines) {
  std::istringstream text(lines);
  return ParseGavel(text, "g.trace", ParseRates(kRates, "r.json", "v100"));
}

std::string Line(const std::string& model, const std::string& steps, const std::string& arrival,
                 const std::string& gpus) {
  return model + "\tpython3 main.py, with a comma\t-n\t1\t" + steps + '\t' + arrival + '\t' + gpus + '\n';
}

TEST(GavelTraceTest, LengthIsStepsOverTheirRate) {
  const Job job = Parsed(Line("Net (batch size 8)", "1000", "6.5", "2")).jobs.at(0);
  EXPECT_EQ(job.id, 1);
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.model, "Net (batch size 8)");
  EXPECT_EQ(job.submit_s, 6.5);
  EXPECT_DOUBLE_EQ(job.length_s(), 1000.0 / 5);
  EXPECT_DOUBLE_EQ(job.iterations, 500);
}

// An iteration takes 0.25 s on one GPU, 0.4 s on two, and 0.2 s on four, which is less than on one.
TEST(GavelTraceTest, WhatMoreGpusTakeLongerIsCommunication) {
  const Trace trace =
      Parsed(Line("Net (batch size 8)", "9", "0", "1") + Line("Net (batch size 8)", "9", "0", "2") +
             Line("Net (batch size 8)", "9", "0", "4"));
  const double stages[][2] = {{0.25, 0}, {0.25, 0.15}, {0.2, 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(trace.jobs[i].stage[0], 0);
    EXPECT_NEAR(trace.jobs[i].stage[1], stages[i][0], 1e-12);
    EXPECT_NEAR(trace.jobs[i].stage[2], stages[i][1], 1e-12);
  }
}

TEST(GavelTraceTest, WhatWasNotMeasuredIsLeftOut) {
  const Trace trace = Parsed(Line("A3C", "9", "7", "1") + Line("A3C", "9", "0", "2") +
                             Line("Unheard of", "9", "0", "1") + Line("A3C", "9", "5", "1"));
  EXPECT_EQ(trace.left_out, 2);
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, 4) << "in order of submission";
}

TEST(GavelTraceTest, FaultsAreNamed) {
  const auto said = [](const std::string& text) { return FaultOf([&] { Parsed(text); }); };
  const std::string good = Line("A3C", "9", "0", "1");
  EXPECT_EQ(said(good), "");
  EXPECT_EQ(said(good + "A3C\tcommand\n"), "g.trace:2: columns: expected 7, got 2");
  EXPECT_EQ(said(Line("A3C", "0", "0", "1")),
            "g.trace:1: total_steps: expected a number from 1 to 1e+15, got 0");
  EXPECT_EQ(said(Line("A3C", "1e999", "0", "1")),
            "g.trace:1: total_steps: expected a number from 1 to 1e+15, got 1e999");
  EXPECT_EQ(said(Line("A3C", "9", "inf", "1")),
            "g.trace:1: arrival_time: expected a number from 0 to 1e+15, got inf");
  EXPECT_EQ(said(Line("A3C", "9", "0", "1.5")),
            "g.trace:1: scale_factor: expected a whole number from 1 to 100000, got 1.5");
  EXPECT_EQ(said(Line("", "9", "0", "1")), "g.trace:1: job_type: expected a text, got \"\"");
}

TEST(RatesTest, FaultsAreNamed) {
  const auto said = [](const std::string& json, const char* kind = "v100") {
    return FaultOf([&] { ParseRates(json, "r.json", kind); });
  };
  EXPECT_EQ(said(kRates), "");
  EXPECT_EQ(said(kRates, "k80"), "r.json: k80: expected an object, got 3");
  EXPECT_EQ(said(kRates, "t4"), "r.json: t4: expected an object, got nothing");
  EXPECT_EQ(said("{\"v100\": ").rfind("r.json: not JSON: ", 0), 0u);
  EXPECT_EQ(said("[]"), "r.json: expected an object, got []");
  EXPECT_EQ(said(R"json({"v100": {"('M', 1)": 3}})json"), "r.json: v100.('M', 1): expected an object, got 3");
  const std::string rate = "v100.('M', 1).null: expected a number of steps per second from 0 to 1e9, got ";
  EXPECT_EQ(said(R"json({"v100": {"('M', 1)": {}}})json"), "r.json: " + rate + "nothing");
  EXPECT_EQ(said(R"json({"v100": {"('M', 1)": {"null": -1}}})json"), "r.json: " + rate + "-1");
  EXPECT_EQ(said(R"json({"v100": {"('M', 1)": {"null": "1"}}})json"), "r.json: " + rate + "\"1\"");
  EXPECT_EQ(said(R"json({"v100": {"a\nb": {"null": 1}}})json"),
            "r.json: v100: expected keys of the form ('MODEL', GPUS), got a?b")
      << "one line";
  for (const std::string key : {"M", "('M')", "('M', )", "('M', 1", "('M', 0)", "('', 1)", "('M', 1x)", ""}) {
    EXPECT_EQ(said("{\"v100\": {\"" + key + "\": {\"null\": 1}}}"),
              "r.json: v100: expected keys of the form ('MODEL', GPUS), got " + (key.empty() ? "\"\"" : key));
  }
}

}  // namespace
}  // namespace crossover::benchmarks
