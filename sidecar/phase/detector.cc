#include "sidecar/phase/detector.h"

#include <algorithm>

namespace crossover::phase {

Detector::Verdict Detector::OnCollective(const Token& token) {
  const bool was_locked = locked();
  if (count_ != 0) Close();

  Entry entry;
  entry.digest = Digest(token);
  entry.compute_before = compute_pending_;
  compute_pending_ = false;
  if (locked()) {
    const Entry& expected = At(count_ - period_);
    if (expected.digest == entry.digest) {
      entry.compute_before = expected.compute_before;  // launches are not watched while locked
    } else {
      Break();
    }
  } else if (watched_ != 0 && At(count_ - watched_).digest != entry.digest) {
    watched_ = 0;
  }
  At(count_) = entry;
  ++count_;

  Verdict verdict;
  verdict.locked = locked();
  verdict.broken = was_locked && !locked();
  const std::uint32_t expected = locked() ? At(count_ - 1 - period_).facts : 0;
  verdict.turn_end = !at_waits_ && (expected & kJoined) != 0;
  verdict.at_once = at_waits_ && (expected & kAtOnce) != 0;
  return verdict;
}

// Closes the entry of the last collective: its facts are complete. Looks for a period, or checks the known
// one.
void Detector::Close() {
  CountRuns();
  if (!locked()) {
    TryLock();
    return;
  }
  Entry& last = At(count_ - 1);
  const Entry& expected = At(count_ - 1 - period_);
  if (!Repeats(last, expected)) {
    Break();
    return;
  }
  // Launches are not watched now, so each join looks like one at once: that is no news.
  const bool news = (last.facts & ~(expected.facts | kAtOnce)) != 0;
  last.Learn(expected);
  if (news && !at_waits_ && !Suits(period_, &turns_)) {
    Break();
    return;
  }
  if (++age_ % period_ == 0) ++periods_seen_;
}

void Detector::CountRuns() {
  const std::uint64_t last = count_ - 1;
  const std::size_t reach = static_cast<std::size_t>(std::min<std::uint64_t>(kMaxPeriod, last));
  const Entry entry = At(last);
  for (std::size_t p = 1; p <= reach; ++p) {
    run_[p] = entry.Fits(At(last - p)) ? run_[p] + 1 : 0;
  }
}

void Detector::TryLock() {
  for (std::size_t p = 1; p <= kMaxPeriod; ++p) {
    if (run_[p] < 2 * p) continue;
    if (watched_ == 0 && run_[p] + p >= kSureOfWaits) watched_ = p;
    if (run_[p] + p < required_) continue;
    std::uint32_t turns = 0;
    const bool suits = Suits(p, &turns);
    if (!suits && !SuitsAtWaits(p, &turns)) continue;
    for (std::uint64_t i = count_ - p; i < count_; ++i) At(i) = Known(i, p);
    period_ = p;
    watched_ = 0;
    turns_ = turns;
    at_waits_ = !suits;
    age_ = 0;
    return;
  }
}

// Returns whether a collective is the one that the known period expects. If turns end at waits, nothing
// depends on which of them compute has joined.
bool Detector::Repeats(const Entry& entry, const Entry& expected) const {
  return at_waits_ ? entry.digest == expected.digest : entry.Fits(expected);
}

Detector::Obstacle Detector::obstacle() const {
  if (locked()) return Obstacle::kNone;
  if (watched_ != 0 && run_[watched_] + watched_ >= kSureOfObstacle) {
    return WaitsIn(watched_) == 0 ? Obstacle::kNoWaits : Obstacle::kInnerWaits;
  }
  return count_ - since_ >= kSureOfNoPeriod ? Obstacle::kNoPeriod : Obstacle::kNone;
}

// Returns whether turns can end at the waits of the period, and in `*waits` how many of them there are.
bool Detector::SuitsAtWaits(std::size_t period, std::uint32_t* waits) const {
  *waits = 0;
  if (!waits_allowed_ || run_[period] + period < kSureOfWaits) return false;
  *waits = WaitsIn(period);
  return *waits >= 1;
}

// Returns how many collectives of the period compute waits for, where compute was launched since the wait
// before. REQUIRES: the last three periods repeat.
std::uint32_t Detector::WaitsIn(std::size_t period) const {
  std::uint32_t waits = 0;
  bool compute = false;
  for (std::uint64_t i = count_ - 2 * period; i < count_; ++i) {
    const bool second = i >= count_ - period;
    compute = compute || At(i).compute_before;
    if (Known(second ? i : i + period, period).facts == 0) continue;
    if (compute && second) ++waits;
    compute = false;
  }
  return waits;
}

// Returns whether the period has a suitable number of turns and no wait inside one; `*turns` is that number.
// Walks the last two periods and counts turns in the second. So it sees the compute before the first turn end
// of a period even if that compute was launched in the period before.
bool Detector::Suits(std::size_t period, std::uint32_t* turns) const {
  bool compute = false;
  *turns = 0;
  for (std::uint64_t i = count_ - 2 * period; i < count_; ++i) {
    const bool second = i >= count_ - period;
    const Entry known = Known(second ? i : i + period, period);
    if (known.WaitsInside()) return false;
    compute = compute || At(i).compute_before;
    if ((known.facts & kJoined) == 0) continue;
    if (compute && second) ++*turns;
    compute = false;
  }
  return *turns >= 1 && *turns <= kMaxTurns;
}

// Returns an entry of the last period with all that its last three repetitions have shown. If compute has
// waited for an older collective and may have waited for this one, it did: a program waits for several
// collectives at one place, and this one was done by then.
Detector::Entry Detector::Known(std::uint64_t index, std::size_t period) const {
  Entry known = At(index);
  known.Learn(At(index - period));
  known.Learn(At(index - 2 * period));
  if ((known.facts & kInnerJoin) != 0) known.facts |= known.unknown & kJoined;
  known.unknown &= ~known.facts;
  return known;
}

void Detector::Break() {
  const std::uint64_t lived = 3 * period_ + age_;
  const bool short_lived = age_ < kShortLived * period_;
  required_ = short_lived ? std::min<std::uint64_t>(2 * lived, 3 * kMaxPeriod) : 0;
  if (!short_lived) since_ = count_;
  period_ = 0;
  turns_ = 0;
  at_waits_ = false;
  age_ = 0;
}

}  // namespace crossover::phase
