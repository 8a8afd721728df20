// Runs `crossover plan pipeline`, which plans how a model is divided into the stages of a pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace crossover::cli {

struct PipelineOptions {
  std::string profile;  // path, or - for standard input
  int stages = 0;
  int microbatches = 0;
  std::string schedule = "1f1b";  // or interleaved, gpipe
  std::optional<int> chunks;      // of each device, for interleaved; none: kChunks
  bool slices = true;
  std::optional<double> slice_cost;  // pipeline::Costs; none: kSliceCost
  double state_factor = 4;           // pipeline::Problem
  int try_all_up_to = 20'000;
  std::int64_t most_operations = 30'000'000;  // pipeline::Problem
  std::string cluster;  // path, or - for standard input; empty: the next three are those of all devices
  double gpu_memory_gib = 0;
  double link_gbit = 0;
  double latency_us = 0;
  std::string picture;  // path of an HTML page to write; empty: none
  bool json = false;

  static constexpr int kChunks = 2;
  static constexpr double kSliceCost = 0.05;
};

// Prints the plan and returns the exit code: 2 if an option or a file is refused, and 1 if the memory of the
// GPUs suffices for no division that was found, or the picture or standard output cannot be written.
int PlanPipeline(const PipelineOptions& options);

}  // namespace crossover::cli
