// Finds the iteration of a training job, and where its compute turns end, in its sequence of collectives.
//
// The detector is pure: it sees tokens and facts of program order, never a time. A collective *ends a turn*
// if compute waits for it before the next collective is called. The compute that is launched before it
// belongs to that turn. Buckets that overlap with the backward pass do not end turns, because the next
// collective is called first.
//
//   calls      L L  C1  L L  C2  C3  join  L L  C1  L L  C2  C3  join      L: launch, C: collective
//   turns     |<------------------>|      |<------------------>|           C3 ends the turn
//   period     <-------- 3 -------->       <-------- 3 -------->           collectives
//
// The period is the smallest p such that the last 3p collectives repeat with period p, turn ends included,
// and such that the period has 1 to kMaxTurns turns and no wait inside a turn. The first mismatch drops it.
// After a period that was dropped soon after it was found, the next one must repeat for longer: a run of
// equal collectives inside a longer iteration looks like a period of one.
//
// With AllowWaits(), a period with more turns, or with waits inside a turn, counts too. It must have repeated
// for kSureOfWaits collectives. Its turns end at waits (at_waits()), and the period only numbers iterations.
// So from then on the calls alone have to repeat.
//
// A program may leave out the wait for a collective that it has found done. Whether it has waited is then
// unknown, which fits both. What one repetition has shown holds for the others: a collective for which
// compute has waited once in the period ends a turn.
//
// Not thread-safe. Does not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sidecar/phase/token.h"
#include "turn/ops.h"

namespace crossover::phase {

// A Detector says where turns end. REQUIRES: the caller reports collectives, joins and launches in program
// order.
class Detector {
 public:
  static constexpr std::size_t kMaxPeriod = 256;               // collectives per iteration
  static constexpr std::uint32_t kMaxTurns = turn::kMaxTurns;  // per period

  // A Verdict says what one collective means.
  struct Verdict {
    bool locked = false;    // a period is known and this call fits it
    bool turn_end = false;  // locked, and compute will wait for this call before the next one
    bool at_once = false;   // at_waits(), and compute waits for this call before anything else is launched
    bool broken = false;    // this call, or what followed the last one, broke the known period
  };

  // An Obstacle says why no period with turns is found.
  enum class Obstacle {
    kNone,        // a period is known, or may still be found
    kInnerWaits,  // the calls repeat, with waits inside turns or with more than kMaxTurns turns
    kNoWaits,     // the calls repeat, and no compute that is launched between them waits for them
    kNoPeriod,    // the calls, or the waits for them, do not repeat
  };
  static constexpr std::size_t kSureOfObstacle = 256;   // collectives that repeat without a period with turns
  static constexpr std::size_t kSureOfNoPeriod = 1024;  // collectives, more than any period needs to be found

  // Records that a collective is about to be called, and returns what it means.
  Verdict OnCollective(const Token& token);

  // Records that compute now comes after the last collective, and did not before.
  void OnJoin() { Mark(compute_pending_ ? kJoined : kJoined | kAtOnce); }

  // Records that compute now comes after an older collective, and did not before.
  void OnInnerJoin() { Mark(kInnerJoin); }

  // These functions record that compute may come after the last collective, or after an older one, from some
  // call on that the library does not see.
  void OnPossibleJoin() { MarkUnknown(kJoined); }
  void OnPossibleInnerJoin() { MarkUnknown(kInnerJoin); }

  // Records that compute was launched. The caller needs to call it only while no period is known.
  void OnCompute() { compute_pending_ = true; }

  // Allows periods whose turns end at waits.
  void AllowWaits() { waits_allowed_ = true; }
  // Forgets all collectives.
  void Reset() {
    const bool allowed = waits_allowed_;
    *this = Detector();
    waits_allowed_ = allowed;
  }

  bool locked() const { return period_ != 0; }
  // Returns whether a period is known whose turns end at waits. `turn_end` of a verdict is then never true.
  bool at_waits() const { return at_waits_; }
  std::uint32_t period() const { return static_cast<std::uint32_t>(period_); }  // 0 while learning
  // Returns by how many collectives the calls repeat: by period() if one is known, else by what has repeated
  // for kSureOfWaits collectives but has no turns. 0 if neither is so.
  std::uint32_t repeats_every() const { return static_cast<std::uint32_t>(locked() ? period_ : watched_); }
  std::uint32_t turns_per_period() const { return turns_; }  // at waits: the waits that end turns
  std::uint64_t periods_seen() const { return periods_seen_; }
  // Returns why no period is known. A period that breaks soon after it was found does not count. Takes a walk
  // over two periods, so it is not for each collective.
  Obstacle obstacle() const;

 private:
  static constexpr std::uint32_t kJoined = 1;
  static constexpr std::uint32_t kInnerJoin = 2;
  static constexpr std::uint32_t kAtOnce = 4;      // with kJoined: nothing was launched before
  static constexpr std::size_t kRing = 1024;       // a power of two, at least 2 * kMaxPeriod
  static constexpr std::uint32_t kShortLived = 8;  // periods; a lock that broke sooner was probably false
  static constexpr std::size_t kSureOfWaits = 64;  // collectives

  // An Entry is one collective of the recent past.
  struct Entry {
    std::uint64_t digest;
    std::uint32_t facts = 0;
    std::uint32_t unknown = 0;    // facts that may hold too: none of `facts`
    bool compute_before = false;  // since the previous collective

    bool WaitsInside() const { return facts == kInnerJoin; }
    // Returns whether compute may have joined the collective by a call that the library does not see.
    bool MayHaveJoined() const { return (unknown & kJoined) != 0; }
    // Entries may differ in kAtOnce, which says only where a turn is best given back.
    bool Fits(const Entry& other) const {
      return digest == other.digest && ((facts ^ other.facts) & ~(unknown | other.unknown | kAtOnce)) == 0;
    }
    // Takes over from an entry that fits what is unknown here.
    void Learn(const Entry& other) {
      // If the wait was left out, nothing tells when it would have come.
      const std::uint32_t mine = MayHaveJoined() ? kAtOnce : facts;
      const std::uint32_t its = other.MayHaveJoined() ? kAtOnce : other.facts;
      const bool told = !MayHaveJoined() || !other.MayHaveJoined();
      const std::uint32_t at_once = told ? mine & its & kAtOnce : 0;
      facts = ((facts | other.facts) & ~kAtOnce) | at_once;
      unknown &= other.unknown;
    }
  };

  Entry& At(std::uint64_t index) { return ring_[index % kRing]; }
  const Entry& At(std::uint64_t index) const { return ring_[index % kRing]; }
  void Mark(std::uint32_t fact) {
    if (count_ == 0) return;
    At(count_ - 1).facts |= fact;
    At(count_ - 1).unknown &= ~fact;
  }
  void MarkUnknown(std::uint32_t fact) {
    if (count_ != 0) At(count_ - 1).unknown |= fact & ~At(count_ - 1).facts;
  }
  void CountRuns();
  void Close();
  void TryLock();
  Entry Known(std::uint64_t index, std::size_t period) const;
  bool Suits(std::size_t period, std::uint32_t* turns) const;
  std::uint32_t WaitsIn(std::size_t period) const;
  bool SuitsAtWaits(std::size_t period, std::uint32_t* waits) const;
  bool Repeats(const Entry& entry, const Entry& expected) const;
  void Break();

  std::array<Entry, kRing> ring_{};
  std::array<std::uint32_t, kMaxPeriod + 1> run_{};  // [p]: closed entries in a row equal to the one p before
  std::uint64_t count_ = 0;                          // collectives called
  std::size_t period_ = 0;
  std::size_t watched_ = 0;  // by this many the calls repeat though no turns end in them; 0: not known
  std::uint32_t turns_ = 0;
  std::uint64_t age_ = 0;       // collectives that fitted since the period was found
  std::uint64_t required_ = 0;  // collectives that must repeat, if that is more than 3p
  std::uint64_t since_ = 0;     // the collective since which no period has lasted
  std::uint64_t periods_seen_ = 0;
  bool compute_pending_ = false;
  bool waits_allowed_ = false;
  bool at_waits_ = false;
};

}  // namespace crossover::phase
