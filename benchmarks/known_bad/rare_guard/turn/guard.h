// A guard with one fault, for the controls of figures: where turns gain a tenth it first tries another way
// after 512 units of eight iterations or more, minutes after the jobs have met. It stands in place of
// turn/guard.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "turn/rhythm.h"

namespace crossover::turn {

enum class Way : std::uint8_t { kTurns, kSideBySide, kExclusive };
constexpr const char* Name(Way way) {
  constexpr const char* kNames[] = {"by turns", "side by side", "one after the other"};
  return kNames[static_cast<int>(way)];
}

class Guard {
 public:
  // One job, as it stands.
  struct Job {
    SlotIndex slot = kNobody;
    std::uint32_t iteration = 0;  // its number, the same on all ranks
    Time alone = kNever;          // of an iteration, as it is estimated here
  };
  struct Plan {
    Way way = Way::kTurns;
    SlotIndex owner = kNobody;  // kExclusive: who has the GPU
  };

  // `jobs` in order of their gangs' names, the same ones as before or Reset() first. Two at least.
  Plan Advance(std::span<const Job> jobs, Time now);
  // Begins anew, but for what is known of jobs alone.
  void Reset();
  void Pause() { Reset(); }
  // Another job has the slot from now on.
  void Forget(SlotIndex slot) { alone_[slot] = 0; }
  // Off where one after the other cannot be had (in time-slices, where a turn lasts until all ranks have come
  // to its end). What is left there is much the same for all jobs, so that it is measured for longer, and
  // turns are only kept where they are worth something.
  void set_exclusive(bool on) { exclusive_ = on; }

  Way settled() const { return settled_; }  // what the last trial was won by
  bool trying() const { return step_ != Step::kSettled && !looking_; }
  // Rates as they were last measured, 0 while unknown, and when the last trial ended.
  double rate(Way way) const { return rate_[static_cast<int>(way)]; }
  Time tried_at() const { return tried_at_; }
  // It does not count what its trials cost.
  Time looked() const { return 0; }
  Time lost() const { return 0; }
  // What an iteration of a client takes alone, as was measured last, and when that was; kNever before.
  Time alone(SlotIndex slot) const { return slot < kMaxSlots && alone_[slot] > 0 ? alone_[slot] : kNever; }
  std::uint32_t alone_over(SlotIndex) const { return 0; }
  Time alone_at(SlotIndex slot) const { return alone(slot) == kNever ? kNever : alone_at_[slot]; }

 private:
  enum class Step : std::uint8_t { kSettled, kAlone, kTurns, kSideBySide };
  // One job's iterations between two instants at which its number was seen to change.
  struct Meter {
    std::uint32_t first = 0, last = 0;
    Time from = kNever, to = kNever;
    void See(std::uint32_t iteration, Time now);
    Time step() const { return from == kNever || last == first ? kNever : (to - from) / (last - first); }
  };

  void Watch(std::span<const Job> jobs, Time now);
  void LearnUnit(std::span<const Job> jobs);
  std::uint32_t Spacing(std::size_t jobs) const;
  bool CanBegin() const;
  bool TrialIsDue(std::size_t jobs, std::uint32_t before) const;
  bool LookIsDue(std::span<const Job> jobs, std::uint32_t before) const;
  void Begin(Step step, std::span<const Job> jobs);
  Step TheOther() const;
  void Measure(std::uint32_t skip, std::span<const Job> jobs);
  bool Measured(std::span<const Job> jobs) const;
  void AdvanceAlone(std::span<const Job> jobs, Time now);
  void EndTrial(std::span<const Job> jobs, Time now);
  void Settle(std::span<const Job> jobs, Time now);
  void Rate(std::span<const Job> jobs);
  void StartAgain(std::span<const Job> jobs);
  SlotIndex OwnerOf(std::span<const Job> jobs) const;
  Time AloneOf(const Job& job) const;
  std::uint32_t SoloOf(SlotIndex slot) const;
  double RateOf(std::span<const Job> jobs, const Time (&steps)[kMaxSlots]) const;
  double Metered(std::span<const Job> jobs) const;
  Plan ThePlan(std::span<const Job> jobs) const;

  bool exclusive_ = true;
  Step step_ = Step::kSettled;
  bool looking_ = false;  // in kAlone: no other way is tried behind it
  Way settled_ = Way::kTurns;
  Meter meter_[kMaxSlots];
  std::uint32_t seen_[kMaxSlots] = {};  // iterations
  bool known_ = false;                  // seen_
  bool metering_ = false;
  std::uint32_t unit_ = 0;             // iterations of the first job; 0 until it is known how long they are
  Time shared_[kMaxSlots] = {};        // how long an iteration was then, of each
  bool vague_ = false;                 // estimates of `alone` are too rough
  std::uint32_t spacing_ = 0;          // units between trials; 0 before the first
  std::uint32_t iteration_ = 0;        // of the first job, at the last call
  std::uint32_t measure_from_ = 0;     // iteration of the first job from which on meters run
  std::uint32_t rated_ = 0;            // iteration of the first job when the settled way was first rated
  Time settled_step_[kMaxSlots] = {};  // of each job, when the settled way was last rated
  double promised_ = 0;                // the settled way's rate in its trial; 0 once that was looked at again
  bool differed_ = false;              // from other GPUs, once at least
  std::uint32_t base_[kMaxSlots] = {};  // iterations when the step began
  double rate_[3] = {};
  std::array<Time, kMaxSlots> alone_ = {};  // 0 while unknown
  std::array<Time, kMaxSlots> alone_at_ = {};
  Time tried_at_ = kNever;
};

}  // namespace crossover::turn
