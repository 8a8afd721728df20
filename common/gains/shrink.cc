#include "common/gains/shrink.h"

#include <algorithm>
#include <cstddef>

#include "common/gains/balance.h"

namespace crossover::gains {
namespace {

double AloneOf(const ShrinkJob& job) {
  return job.compute_s + job.codec_s + job.input_s + job.exposed_s / job.ratio;
}

std::size_t IndexOf(ShrinkTo level) { return static_cast<std::size_t>(level); }

// Returns why no level is advised whatever it would gain, or nothing.
std::optional<WhyNoShrink> WhyNever(const ShrinkCase& shrink) {
  if (shrink.nodes == 1) return WhyNoShrink::kOneNode;
  if (shrink.others.empty()) return WhyNoShrink::kAlone;
  if (shrink.part <= 0) return WhyNoShrink::kNoReduction;
  return std::nullopt;
}

// Returns whether the link is what the jobs wait for: then no neighbour hides the wait.
bool LinkBinds(const ShrinkCase& shrink, double step_s) {
  double link_s = shrink.own.link_s;
  for (const ShrinkJob& job : shrink.others) link_s += job.link_s / job.ratio;
  return link_s > 0 && link_s >= step_s;
}

}  // namespace

double StepBeside(const ShrinkJob& own, std::span<const ShrinkJob> others) {
  double gpu_s = own.compute_s + own.codec_s;
  double link_s = own.link_s / own.ratio;
  const double alone_s = AloneOf(own);
  for (const ShrinkJob& job : others) {
    gpu_s += job.compute_s + job.codec_s;
    link_s += job.link_s / job.ratio;
  }
  return std::max({gpu_s, alone_s, link_s});
}

double CycleOf(std::span<const ShrinkJob> jobs) {
  double cycle_s = 0;
  for (const ShrinkJob& job : jobs) cycle_s = std::max(cycle_s, AloneOf(job));
  return std::max(cycle_s, StepBeside(jobs.front(), jobs.subspan(1)));
}

ShrinkJob InStepsOf(double step_s, const ShrinkJob& job) {
  const double alone_s = AloneOf(job);
  if (alone_s <= 0) return job;
  const double steps = step_s / alone_s;
  return {.compute_s = job.compute_s * steps,
          .exposed_s = job.exposed_s * steps,
          .input_s = job.input_s * steps,
          .link_s = job.link_s * steps,
          .codec_s = job.codec_s * steps,
          .ratio = job.ratio};
}

double CodecSeconds(ShrinkTo level, double elements, int nodes, int per_node, double bandwidth_bytes_per_s) {
  constexpr double kBf16Bytes = 4 + 2 + 2 + 4;   // narrowing and widening
  constexpr double kShardBytes = 4 + 1 + 1 + 4;  // encoding and decoding
  if (level == ShrinkTo::kPlain || bandwidth_bytes_per_s <= 0) return 0;
  if (level == ShrinkTo::kBf16) return elements * kBf16Bytes / bandwidth_bytes_per_s;
  if (nodes < 1 || per_node < 1) return 0;
  return elements / per_node * (kShardBytes + (8.0 + nodes) / nodes) / bandwidth_bytes_per_s;
}

std::array<double, kShrinkLevels.size()> CodecSecondsByLevel(double elements, int nodes, int per_node,
                                                             double bandwidth_bytes_per_s) {
  std::array<double, kShrinkLevels.size()> by_level{};
  for (const ShrinkTo level : kShrinkLevels)
    by_level[IndexOf(level)] = CodecSeconds(level, elements, nodes, per_node, bandwidth_bytes_per_s);
  return by_level;
}

ShrinkJob With(ShrinkTo level, const ShrinkCase& shrink) {
  ShrinkJob job = shrink.own;
  job.codec_s = shrink.codec_s[IndexOf(level)];
  job.ratio = 1 / (1 - shrink.part + shrink.part / RatioOf(level));
  return job;
}

const char* InWords(WhyNoShrink why) {
  switch (why) {
    case WhyNoShrink::kOneNode:
      return "all its ranks are on one node, where no slow link is";
    case WhyNoShrink::kAlone:
      return "no other job is on its GPUs: one that takes turns with it would hide a wait, and change no "
             "numbers";
    case WhyNoShrink::kNoReduction:
      return "it makes no all-reduces, and no other call is compressed";
    case WhyNoShrink::kShortWait:
      return "its wait for communication is no longer than its compute, so turns with a job like it hide all "
             "of it";
    case WhyNoShrink::kHidden:
      return "what the other jobs compute hides its wait for communication";
    case WhyNoShrink::kNoGain:
      return "no level makes a step shorter by 3%";
  }
  return "?";
}

ShrinkGain GainOfShrink(const ShrinkCase& shrink) {
  ShrinkGain gain;
  for (const ShrinkTo level : kShrinkLevels)
    gain.after_s[IndexOf(level)] = StepBeside(With(level, shrink), shrink.others);
  gain.before_s = gain.after_s[IndexOf(ShrinkTo::kPlain)];
  gain.why_not = WhyNever(shrink);
  if (gain.why_not) return gain;
  if (shrink.own.exposed_s <= shrink.own.compute_s && !LinkBinds(shrink, gain.before_s)) {
    gain.why_not = WhyNoShrink::kShortWait;
    return gain;
  }
  const double best_s = *std::ranges::min_element(gain.after_s);
  for (const ShrinkTo level : kShrinkLevels) {
    gain.level = level;
    if (gain.after_s[IndexOf(level)] <= best_s * (1 + kWorth)) break;
  }
  if (gain.level != ShrinkTo::kPlain) return gain;
  double gpu_s = shrink.own.compute_s;
  for (const ShrinkJob& job : shrink.others) gpu_s += job.compute_s + job.codec_s;
  gain.why_not = gain.before_s <= gpu_s * (1 + kWorth) ? WhyNoShrink::kHidden : WhyNoShrink::kNoGain;
  return gain;
}

}  // namespace crossover::gains
