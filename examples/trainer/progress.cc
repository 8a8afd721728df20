#include "examples/trainer/progress.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace crossover::trainer {

Progress::Progress(const Options& options, const Rank& rank, Gpu& gpu, Timeline& timeline)
    : options_(options),
      rank_(rank),
      gpu_(gpu),
      timeline_(timeline),
      pinned_losses_(static_cast<float*>(gpu.AllocateHost(kPinned * sizeof(float)))),
      losses_(options.iterations) {}

void Progress::EndIteration(std::uint64_t i, const float* losses) {
  if (i % options_.log_every == 0) gpu_.DownloadAsync(PinnedLoss(i), losses + i, sizeof(float));
  timeline_.EndIteration();
  ++enqueued_;
}

void Progress::FollowBehind(std::uint64_t i) {
  if (i > 0 && (i - 1) % options_.log_every == 0) CollectThrough(i - 1);
}

void Progress::CollectThrough(std::uint64_t last) {
  while (records_.size() <= last) {
    const std::uint64_t i = records_.size();
    records_.push_back(timeline_.Collect());
    if (i % options_.log_every == 0) losses_[i] = *PinnedLoss(i);
  }
  const std::uint64_t interval = std::max<std::uint64_t>(options_.iterations / 10, 1);
  if (rank_.rank != 0 || last < next_print_) return;
  std::printf("iteration %" PRIu64 " loss %.4f\n", last, static_cast<double>(losses_[last]));
  std::fflush(stdout);
  next_print_ = (last / interval + 1) * interval;
}

void Progress::CollectRest() {
  while (records_.size() < enqueued_) records_.push_back(timeline_.Collect());
}

void Progress::ReadLosses(const float* losses) {
  gpu_.Download(losses_.data(), losses, losses_.size() * sizeof(float));
}

}  // namespace crossover::trainer
