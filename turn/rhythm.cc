#include "turn/rhythm.h"

#include <algorithm>

namespace crossover::turn {
namespace {

// Quick to learn, and one odd turn moves it by a quarter.
Time Smooth(Time old, Time sample) { return old == kNever ? sample : old + (sample - old) / 4; }

}  // namespace

void Rhythm::SetTurns(std::uint32_t turns) {
  if (TurnsOf(turns) == turns_) return;
  turns_ = TurnsOf(turns);
  learned_ = {};
}

Rhythm::Change Rhythm::Watch(const ClientWords& words, Time now) {
  const ClientWords before = last_;
  last_ = words;
  Change change;

  if (words.rel != before.rel && held_ != kNever) {
    change.released = true;
    change.turn = now - held_;
    Learned& learned = learned_[Position(words.rel)];
    if (!odd_) learned.turn = Smooth(learned.turn, change.turn);
    odd_ = false;
    held_ = kNever;
    released_ = now;
  }
  const bool asked = words.ready != before.ready && words.ready != words.rel;
  if (asked && arrived_ == kNever) {
    change.arrived = true;
    arrived_ = now;
    if (released_ != kNever) learned_[Position(words.rel)].gap = now - released_;
  }
  if (words.holding() && words.hold != before.hold) {
    change.held = true;
    change.waited = arrived_ == kNever ? 0 : now - arrived_;
    held_ = now;
    arrived_ = kNever;
  }
  if (!words.holding() && !words.waiting()) arrived_ = kNever;
  return change;
}

Time Rhythm::longest_turn() const {
  Time longest = kNever;
  for (const Learned& learned : learned_) {
    if (learned.turn != kNever && (longest == kNever || learned.turn > longest)) longest = learned.turn;
  }
  return longest;
}

Time Rhythm::next_arrival() const {
  return released_ == kNever || gap() == kNever || last_.holding() ? kNever : released_ + gap();
}

}  // namespace crossover::turn
