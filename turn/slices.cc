#include "turn/slices.h"

#include <algorithm>

namespace crossover::turn {
namespace {

// A job whose turns are longer than this gets no slices. The limit keeps a slice below 8 s of one job, for
// which the other jobs wait. Hosts that run ahead have queued collectives by then, and NCCL's own watchdog
// ends a job that waits for minutes. Turns as long as this lose little to a switch of contexts.
constexpr Time kLongestTurn = 250'000'000;
// This many long turns in a row end slices: a single one may have waited for another GPU.
constexpr int kLongTurns = 2;
// This many strikes end slices. A start in which GPUs let in different jobs first costs one or two strikes.
constexpr int kStrikes = 3;
// A client keeps an unused token for this long. It asks for its next turn within microseconds of its release,
// or within some milliseconds with host gates.
constexpr Time kPatience = 100'000'000;

}  // namespace

void Slices::Reset() {
  const bool allowed = allowed_;
  *this = Slices();
  allowed_ = allowed;
}

void Slices::SeeEnd(SlotIndex slot, Time turn) {
  long_[slot] = static_cast<std::uint8_t>(turn > kLongestTurn ? std::min(long_[slot] + 1, kLongTurns) : 0);
  if (on() && long_[slot] >= kLongTurns) ended_ = Reason::kLong;
}

void Slices::SeeTurn(SlotIndex slot, std::uint32_t iteration) {
  const std::uint32_t slice = iteration / kSliceIterations;
  if (slot == slot_ && slice == slice_) return;
  if (slot_ != kNobody && !stuck_) strikes_ = std::max(0, strikes_ - 1);
  slot_ = slot;
  slice_ = slice;
  stuck_ = false;
}

void Slices::SeeStuck(SlotIndex slot, std::uint32_t iteration) {
  SeeTurn(slot, iteration);
  if (!on() || stuck_) return;
  stuck_ = true;
  if (++strikes_ >= kStrikes) ended_ = Reason::kStuck;
}

bool Slices::GoesOn(SlotIndex slot, const ClientWords& words, bool granted, Time now) {
  if (!on() || granted || !words.idle() || !words.open()) return false;
  if (keeper_ != slot || kept_ != words.hold) {
    keeper_ = slot;
    kept_ = words.hold;
    kept_since_ = now;
  }
  return now - kept_since_ <= kPatience;
}

}  // namespace crossover::turn
