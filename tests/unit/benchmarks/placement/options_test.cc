#include "benchmarks/placement/options.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace crossover::benchmarks {
namespace {

Options Parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), {"placement_trace", "t.csv", "fifo"});
  return OptionsOf(static_cast<int>(arguments.size()), arguments.data());
}

TEST(OptionsTest, AreReadIntoTheirPlaces) {
  const Options options =
      Parsed({"--nodes=3", "--slots=4", "--shake=6", "--efficiency=0.9", "--starvation-runs=4", "--mean-up=5",
              "--jobs=j.csv", "--seed=9", "--format=philly", "--clusters=a,b", "--gpu-kind=p100",
              "--occupancy=o.csv"});
  EXPECT_EQ(options.source.path, "t.csv");
  EXPECT_EQ(options.source.format, "philly");
  EXPECT_EQ(options.source.clusters, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(options.source.gpu, "p100");
  EXPECT_EQ(options.occupancy, "o.csv");
  EXPECT_EQ(options.cluster.nodes, 3);
  EXPECT_EQ(options.slots, 4);
  EXPECT_EQ(options.shake, 6u);
  EXPECT_EQ(Parsed({"--nodes=3"}).shake, std::nullopt);
  EXPECT_EQ(options.settings.efficiency, 0.9);
  EXPECT_EQ(options.settings.starvation_runs, 4);
  EXPECT_EQ(options.failing.mean_up_s, 5);
  EXPECT_EQ(options.jobs, "j.csv");
  EXPECT_EQ(options.failing.seed, 9u);
}

TEST(OptionsTest, WhatIsNotKnownIsNamed) {
  const auto said = [](const char* argument) -> std::string {
    try {
      Parsed({argument});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said("--nodes=3"), "");
  EXPECT_EQ(said("--nodes=many").rfind("--nodes: expected a number, got many; usage:", 0), 0u);
  EXPECT_EQ(said("--nodes").rfind("--nodes: usage:", 0), 0u);
  EXPECT_EQ(said("--noodles=3").rfind("--noodles=3: usage:", 0), 0u);
  Options options;
  options.policy = "luck";
  EXPECT_THROW(PolicyOf(options), std::runtime_error);
}

}  // namespace
}  // namespace crossover::benchmarks
