// The fault: where turns gain a tenth, the guard tries another way for the first time after 512 units of
// eight or more iterations. That is minutes after the jobs have met. The controls of figures use this guard
// in place of turn/guard.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "turn/timing_model.h"

namespace crossover::turn {

enum class Way : std::uint8_t { kTurns, kSideBySide, kExclusive };
constexpr const char* Name(Way way) {
  constexpr const char* kNames[] = {"by turns", "side by side", "one after the other"};
  return kNames[static_cast<int>(way)];
}

class Guard {
 public:
  // Holds the present state of one job.
  struct Job {
    SlotIndex slot = kNobody;
    std::uint32_t iteration = 0;  // number of its iteration, the same on all ranks
    Time alone = kNever;          // estimated time of an iteration alone
  };
  struct Plan {
    Way way = Way::kTurns;
    SlotIndex owner = kNobody;  // with kExclusive: the client that has the GPU
  };

  // Returns the plan for `jobs`. REQUIRES: there are at least two jobs, in the order of their gangs' names.
  // They are the same jobs as at the previous call, unless Reset() was called in between.
  Plan Advance(std::span<const Job> jobs, Time now);
  // Starts again from the beginning, but keeps what is known of each job alone.
  void Reset();
  void Pause() { Reset(); }
  // Forgets what is known of the job in `slot`, because another job has the slot from now on.
  void Forget(SlotIndex slot) { alone_[slot] = 0; }
  // Switches the way "one after the other" on or off. It is off in time-slices, where a turn lasts until
  // all ranks have come to its end. The remaining ways give all jobs nearly the same there. They are
  // therefore measured for longer, and turns stay only if they gain something.
  void set_exclusive(bool on) { exclusive_ = on; }

  Way settled() const { return settled_; }  // the way that won the last trial
  bool trying() const { return step_ != Step::kSettled && !looking_; }
  // Returns the last measured rate of a way; 0 while it is not known.
  double rate(Way way) const { return rate_[static_cast<int>(way)]; }
  // Returns when the last trial ended; kNever before the first one.
  Time tried_at() const { return tried_at_; }
  // Both return 0: this guard does not count the cost of its trials.
  Time looked() const { return 0; }
  Time lost() const { return 0; }
  // alone() returns the last measured time of an iteration of the client alone, and alone_at() the time of
  // that measurement. Both return kNever before the first one.
  Time alone(SlotIndex slot) const { return slot < kMaxSlots && alone_[slot] > 0 ? alone_[slot] : kNever; }
  std::uint32_t alone_over(SlotIndex) const { return 0; }
  Time alone_at(SlotIndex slot) const { return alone(slot) == kNever ? kNever : alone_at_[slot]; }

 private:
  enum class Step : std::uint8_t { kSettled, kAlone, kTurns, kSideBySide };
  // Measures the iterations of one job between two times at which its iteration number changed.
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
  bool looking_ = false;  // in kAlone: no trial of another way follows
  Way settled_ = Way::kTurns;
  Meter meter_[kMaxSlots];
  std::uint32_t seen_[kMaxSlots] = {};  // iteration numbers, as last seen
  bool known_ = false;                  // seen_ is valid
  bool metering_ = false;
  std::uint32_t unit_ = 0;       // iterations of the first job; 0 until their length is known
  Time shared_[kMaxSlots] = {};  // time of an iteration of each job at that time
  bool vague_ = false;           // the estimates of `alone` are too rough
  std::uint32_t spacing_ = 0;    // units between trials; 0 before the first trial
  std::uint32_t iteration_ = 0;  // of the first job, at the last call
  // Meters run from this iteration of the first job on.
  std::uint32_t measure_from_ = 0;
  // This is the iteration of the first job at which the settled way got its first rate.
  std::uint32_t rated_ = 0;
  Time settled_step_[kMaxSlots] = {};  // of each job, when the settled way was last rated
  // The settled way had this rate in its trial. It is 0 after that was checked once.
  double promised_ = 0;
  bool differed_ = false;               // the way differed from other GPUs at least once
  std::uint32_t base_[kMaxSlots] = {};  // iteration numbers at the start of the step
  double rate_[3] = {};
  std::array<Time, kMaxSlots> alone_ = {};  // 0 while unknown
  std::array<Time, kMaxSlots> alone_at_ = {};
  Time tried_at_ = kNever;
};

}  // namespace crossover::turn
