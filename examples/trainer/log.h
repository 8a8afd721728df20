// Writes what a rank measured, as JSON lines: one for each iteration, one for each evaluation, then a
// summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crossover::trainer {

struct IterationRecord {
  std::uint64_t iteration = 0;
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t end_ns = 0;
  std::int64_t compute_ns = 0;  // time from begin to end without waits for collectives
};

struct EvaluationRecord {
  std::uint64_t after_iteration = 0;
  double loss = 0;
  double accuracy = 0;
};

// A ShareChange says from which iteration on a rank has another share of the batch.
struct ShareChange {
  std::uint64_t iteration = 0;
  std::uint32_t images = 0;
};

struct Summary {
  std::string variant;
  std::string stream;
  std::string reduction;  // empty: a sum
  std::string kernels;
  std::uint64_t iterations = 0;  // iterations that were trained
  bool interrupted = false;
  std::int64_t median_step_ns = 0;
  std::int64_t median_compute_ns = 0;
  std::uint64_t gradient_bytes = 0;
  std::uint64_t early_bytes = 0;
  std::uint32_t kernels_per_iteration = 0;
  std::int64_t link_ns = -1;        // expected time of the slowest link in one iteration; -1: unknown
  std::vector<ShareChange> shares;  // changes of this rank
  std::uint64_t losses_digest = 0;
  std::uint64_t parameters_digest = 0;
  double accuracy = 0;  // on the held-out images
};

// Returns the median; of two middle values, the lower one. Returns 0 for an empty list.
std::int64_t Median(std::vector<std::int64_t> values);

// Returns the time that the bytes of one iteration take on a link, if a ring over `world` ranks reduces
// them.
double LinkSeconds(std::uint32_t world, std::uint64_t bytes, double bytes_per_s);

std::string IterationLine(std::uint32_t rank, const IterationRecord& record, float loss);
std::string EvaluationLine(std::uint32_t rank, const EvaluationRecord& record);
std::string SummaryLine(std::uint32_t rank, const Summary& summary);

// Returns `path` with the rank in place of {rank}.
std::string LogPath(std::string path, std::uint32_t rank);

}  // namespace crossover::trainer
