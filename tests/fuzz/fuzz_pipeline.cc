// libs: crossover::pipeline
// Reads a profile and a cluster, which may contain anything. What is accepted can be planned, and an error
// says where it is.
#include <cstdint>
#include <string>

#include "pipeline/mapping.h"
#include "tests/fuzz/require.h"

namespace pipeline = crossover::pipeline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string error;
  const auto servers = pipeline::ReadServers(text, "file", &error);
  crossover::fuzz::Require(servers.has_value() || error.starts_with("file:"));
  error.clear();
  const auto blocks = pipeline::ReadProfile(text, "file", &error);
  crossover::fuzz::Require(blocks.has_value() || error.starts_with("file:"));
  if (!blocks) return 0;
  crossover::fuzz::Require(!blocks->empty());
  pipeline::Problem problem;
  problem.blocks = *blocks;
  problem.devices.resize(blocks->size() < 3 ? blocks->size() : 3);
  problem.microbatches = 2;
  problem.most_to_try = 50;
  problem.most_operations = 5'000;
  if (!pipeline::FaultOf(problem).empty()) return 0;
  const auto division = pipeline::Divide(problem);
  crossover::fuzz::Require(division.has_value() && division->time >= 0);
  return 0;
}
