#include "turn/timing_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace crossover::turn {
namespace {

// Returns a quickly smoothed value: one odd turn moves it by a quarter of the difference.
Time Smooth(Time old, Time sample) { return old == kNever ? sample : old + (sample - old) / 4; }

// Returns a slowly smoothed value, for values on which all GPUs of a job must agree: the mean of the samples
// while there are at most 16, and from then on each new sample moves it by a sixteenth of the difference.
Time SmoothSlow(Time old, Time sample, std::uint32_t samples) {
  return old == kNever ? sample : old + (sample - old) / std::min<std::uint32_t>(samples, 16);
}

// Returns a smoothed gap, on which all GPUs of a job must agree. A late rank or another job on the link makes
// a gap longer than the job's own communication. Such causes come and go, and differ between GPUs. The value
// therefore falls quickly and rises slowly.
Time SmoothLow(Time old, Time sample) {
  if (old == kNever || sample <= old) return Smooth(old, sample);
  return old + (sample - old) / 32;
}

}  // namespace

void TimingModel::SetTurns(std::uint32_t turns) {
  const std::uint32_t of_a_position = turns > kMaxTurns ? std::min(turns, kMostOfAPosition) : 1;
  if (std::exchange(of_a_position_, of_a_position) != of_a_position) whole_ = {};
  if (TurnsOf(turns) == turns_) return;
  turns_ = TurnsOf(turns);
  learned_ = {};
}

TimingModel::Change TimingModel::Watch(const ClientWords& words, Time now) {
  const ClientWords before = last_;
  const bool anew = std::exchange(anew_, false);
  last_ = words;
  Change change;

  // A turn that passes an open yield point goes on as if there were no yield point.
  const bool goes_on =
      NextTurn(words.hold) == NextTurn(before.hold) && (words.holding() || (words.yielded() && words.open()));
  if (words.rel != before.rel && held_ != kNever && !goes_on) {
    change.released = true;
    change.yielded = words.yielded();
    change.turn = now - held_;
    served_ += change.turn;
    held_ = kNever;
    if (!change.yielded && !odd_) change.whole = served_;
    if (!change.yielded) EndTurn(words.rel, now);
  }
  // At a yield point, an earlier collect may have seen `ready` change before `rel`.
  const bool asked = words.ready != words.rel &&
                     (words.ready != before.ready || change.released || (anew && words.waiting()));
  if (asked && arrived_ == kNever && held_ == kNever) {
    change.arrived = true;
    arrived_ = now;
    if (released_ != kNever && !words.yielded()) {
      change.away = now - released_;
      NoteGap(words.rel, change.away);
    }
  }
  if (words.holding() && held_ == kNever && (words.hold != before.hold || anew)) {
    change.held = true;
    change.waited = arrived_ == kNever ? 0 : now - arrived_;
    held_ = now;
    arrived_ = kNever;
  }
  if (!words.holding() && !words.waiting()) arrived_ = kNever;
  return change;
}

void TimingModel::EndTurn(TurnNumber k, Time now) {
  Learned& learned = learned_[Position(k)];
  if (!odd_) {
    learned.turn = Smooth(learned.turn, served_);
    const Time before = learned.usual_turn;
    learned.usual_turn = SmoothSlow(learned.usual_turn, served_, ++learned.turns);
    // The square uses the means before and after the sample: the distance from only one of them would be
    // biased.
    const double square = before == kNever ? 0
                                           : static_cast<double>(served_ - before) *
                                                 static_cast<double>(served_ - learned.usual_turn);
    learned.variance += (square - learned.variance) / std::min<std::uint32_t>(learned.turns, 16);
    AddToWhole(served_);
  } else {
    whole_.turns = 0;
    whole_.turns_summed = 0;
  }
  odd_ = false;
  served_ = 0;
  released_ = now;
}

void TimingModel::AddToWhole(Time turn) {
  whole_.turns += turn;
  if (++whole_.turns_summed < of_a_position_) return;
  whole_.usual_turns = SmoothSlow(whole_.usual_turns, whole_.turns, ++whole_.seen);
  whole_.turns = 0;
  whole_.turns_summed = 0;
}

void TimingModel::AddGapToWhole(Time gap) {
  whole_.gaps += gap;
  if (++whole_.gaps_summed < of_a_position_) return;
  whole_.usual_gaps = SmoothLow(whole_.usual_gaps, whole_.gaps);
  whole_.gaps = 0;
  whole_.gaps_summed = 0;
}

void TimingModel::NoteGap(TurnNumber k, Time gap) {
  Learned& learned = learned_[Position(k)];
  learned.gap_before = learned.gap;
  learned.gap = gap;
  learned.usual_gap = SmoothLow(learned.usual_gap, gap);
  AddGapToWhole(gap);
}

Time TimingModel::Sum(Time Learned::*part) const {
  Time sum = 0;
  for (std::uint32_t position = 0; position < turns_; ++position) {
    if (learned_[position].*part == kNever) return kNever;
    sum += learned_[position].*part;
  }
  return sum;
}

bool TimingModel::settled() const {
  constexpr std::uint32_t kEnoughWholes = 2;
  if (of_a_position_ > 1 && (whole_.seen < kEnoughWholes || whole_.usual_gaps == kNever)) return false;
  return std::all_of(learned_.begin(), learned_.begin() + turns_, [](const Learned& learned) {
    return learned.turns >= kEnoughTurns && learned.gap != kNever;
  });
}

double TimingModel::jitter() const {
  if (of_a_position_ > 1) return -1;
  double variance = 0;
  for (std::uint32_t position = 0; position < turns_; ++position) {
    if (learned_[position].turns < kEnoughTurns) return -1;
    variance += learned_[position].variance;
  }
  const Time whole = busy();
  return whole > 0 ? std::sqrt(variance) / static_cast<double>(whole) : -1;
}

Time TimingModel::longest_turn() const {
  Time longest = kNever;
  for (const Learned& learned : learned_) {
    if (learned.turn != kNever && (longest == kNever || learned.turn > longest)) longest = learned.turn;
  }
  return longest;
}

bool TimingModel::Brief(std::uint32_t position, Time length) const {
  constexpr Time kLeastGap = 5'000'000;
  const Learned& learned = learned_[position];
  if (turns_ < 2 || length == kNever || learned.turn == kNever || learned.gap == kNever) return false;
  return learned.turn <= length / 5 && learned.gap >= std::max(length / 4, kLeastGap);
}

Time TimingModel::next_arrival() const {
  return released_ == kNever || gap() == kNever || last_.holding() ? kNever : released_ + gap();
}

Time TimingModel::latest_arrival() const {
  const Time before = learned_[Position(last_.rel)].gap_before;
  const Time next = next_arrival();
  return next == kNever || before == kNever ? next : std::max(next, released_ + before);
}

}  // namespace crossover::turn
