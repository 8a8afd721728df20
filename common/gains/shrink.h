// Predicts how much shorter the step of a job becomes if fewer bytes are exchanged, beside the jobs that have
// turns on the same GPUs.
//
// Job i computes for c and then waits for m. With a codec it computes for k more, its wait is m / r, and it
// keeps the slowest link busy for w / r, where w is the time without the codec. (A wait for input, which no
// codec shortens, comes beside m / r.) In the time of one step of job i each other job computes once, so the
// step of job i is at least
//
//   T_i = max(sum_j (c_j + k_j), c_i + k_i + m_i / r_i, sum_j w_j / r_j)
//
// and the longest of all T_i is the cycle in which each job has one step. The middle term is the job's own: a
// neighbour that waits for its own network does not hold it. As long as turns hide the wait (the first term
// is the largest), fewer bytes gain nothing, and the codec costs both. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace crossover::gains {

// ShrinkTo has the levels of the codec, the weakest first. kPlain exchanges all bytes.
enum class ShrinkTo : std::uint8_t { kPlain, kBf16, kQ8 };
inline constexpr std::array kShrinkLevels = {ShrinkTo::kPlain, ShrinkTo::kBf16, ShrinkTo::kQ8};

// Returns by how much a level divides the bytes of float32: 2 for bf16. A bucket of 512 elements has 64 bits
// beside its levels of 8 bits: 32 / (8 + 64 / 512).
constexpr double RatioOf(ShrinkTo level) {
  if (level == ShrinkTo::kPlain) return 1;
  return level == ShrinkTo::kBf16 ? 2 : 32 / (8 + 64.0 / 512);
}

// A ShrinkJob has the times of one job, in seconds of its iteration without a codec, but for codec_s.
struct ShrinkJob {
  double compute_s = 0;  // c
  double exposed_s = 0;  // m, without waits for input
  double input_s = 0;    // waits for input
  double link_s = 0;     // w; 0: it is not known, or the job uses no link that others use
  double codec_s = 0;    // k
  double ratio = 1;      // r
};

// Returns T_i of `own` beside `others`.
double StepBeside(const ShrinkJob& own, std::span<const ShrinkJob> others);
// Returns the longest T_i of the jobs. REQUIRES: there is one.
double CycleOf(std::span<const ShrinkJob> jobs);

// Returns the job as it counts in an iteration of another job, of `step_s`: its own iterations may be longer
// or shorter, and each job runs at the same part of its own speed (common/gains/turns.h).
ShrinkJob InStepsOf(double step_s, const ShrinkJob& job);

// Returns how long the codec takes for what a GPU narrows in an iteration, by the bytes that its kernels move
// through the GPU's memory. `elements` are those of the calls. With bf16 each is read as 4 bytes and written
// as 2, and the other way round later. With q8, of `nodes` nodes with `per_node` ranks each, a rank has a
// shard: 10 bytes for each of its elements and (8 + nodes) / nodes more (record 0075). Returns 0 for kPlain,
// and if the bandwidth is not known (0).
double CodecSeconds(ShrinkTo level, double elements, int nodes, int per_node, double bandwidth_bytes_per_s);

// Returns the same for each level.
std::array<double, kShrinkLevels.size()> CodecSecondsByLevel(double elements, int nodes, int per_node,
                                                             double bandwidth_bytes_per_s);

// A ShrinkCase is one job and its neighbours, which stay as they are.
struct ShrinkCase {
  ShrinkJob own;                                       // without a codec
  std::span<const ShrinkJob> others;                   // in steps of `own` (InStepsOf())
  int nodes = 0;                                       // on which the job has ranks
  double part = 1;                                     // of the job's bytes that a codec can shrink, 0 to 1
  std::array<double, kShrinkLevels.size()> codec_s{};  // by level
};

// Returns the job with a level. The bytes that no codec shrinks stay.
ShrinkJob With(ShrinkTo level, const ShrinkCase& shrink);

enum class WhyNoShrink : std::uint8_t {
  kOneNode,      // there is no slow link
  kAlone,        // no job is beside it: a neighbour would hide the wait
  kNoReduction,  // no codec shrinks its calls
  kShortWait,    // its wait is no longer than its own compute: another job like it hides all of it
  kHidden,       // the neighbours' compute hides the wait, or nearly all of it
  kNoGain        // even the strongest level gains nothing worth it
};
// Returns the reason as a part of a sentence about the job.
const char* InWords(WhyNoShrink why);

// A ShrinkGain is the advice for one job.
struct ShrinkGain {
  std::optional<WhyNoShrink> why_not{};  // set: the level is kPlain
  ShrinkTo level = ShrinkTo::kPlain;
  double before_s = 0;                                 // T without a codec
  std::array<double, kShrinkLevels.size()> after_s{};  // T by level
  double gain() const { return before_s / after_s[static_cast<std::size_t>(level)]; }
};

// Returns the weakest level whose T is within kWorth of the best: one that hides the rest of the wait under
// the neighbours' compute is enough.
ShrinkGain GainOfShrink(const ShrinkCase& shrink);

}  // namespace crossover::gains
