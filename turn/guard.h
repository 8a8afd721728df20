// Chooses the way in which the jobs of a GPU share it (turn/ways.h): by turns, side by side, or one after the
// other in slices of whole iterations.
//
// Turns pay if a job communicates. If kernels of two jobs gain by running at once, side by side may pay more.
// If neither pays, one job after the other is the best way. The guard cannot know this beforehand, so it
// takes a *look*: soon after the jobs have met, and repeatedly, it lets them run in each way for a few
// iterations and compares the rates.
//
// A look is a sequence of rounds. A round has two *blocks* of some iterations: one by turns, one side by
// side. The look ends when the difference is larger than its noise; else a longer round follows. So the
// clearly better way wins within two dozen iterations, and only ways that differ little are compared for
// longer. Some looks also measure what the jobs take alone: each job has the GPU for itself for a few
// iterations. From then on the third way takes part in the choice.
//
//     step         way               next step
//     kMeeting     by turns          kSideBySide, or a whole look from its beginning
//     kTurns       by turns          kSideBySide
//     kSideBySide  side by side      kSettled if the rates tell the ways apart, else kTurns
//     kSettled     the chosen way    kTurns or kAlone when the next look is due
//     kAlone       one job at a time kTurns, or kSettled if the look measures nothing else
//
// The guard spaces looks so that they cost a small, fixed part of the time. The next look comes earlier if a
// job's iterations have changed, or if the chosen way gives less than the other way gave.
//
// All GPUs of a job must change ways together, and they exchange no message. Therefore:
//
// - All lengths count iterations of the first job by name, which all its ranks number in the same way.
// - Looks begin at multiples of powers of two, and each block begins at the iteration at which the one before
//   it ends on all GPUs.
// - The guard compares the times of whole jobs, which all GPUs see in the same way.
// - Each round has both ways in the same order, whatever the GPU chose before. So GPUs that chose differently
//   see each way as it is when all GPUs take it.
//
// GPUs that choose different ways are slower than the look has promised. All GPUs see that, and go back to
// one fixed way: to turns, or in time-slices without slices (set_slice) to side by side.
//
// A job whose turns end at gaps counts its iterations by its turns, so without turns its number stands still.
// The guard then goes back to turns, and waits for long until the next look.
//
// The guard is pure: the caller passes the time. It is not thread-safe, and it is trivially copyable.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "turn/step_meter.h"
#include "turn/timing_model.h"
#include "turn/ways.h"

namespace crossover::turn {

class Guard {
 public:
  // A Job is one job of the GPU, as it is at the time of a call.
  struct Job {
    SlotIndex slot = kNobody;
    std::uint32_t iteration = 0;  // number of its present iteration, the same on all ranks
    Time alone = kNever;          // length of its iteration alone, as the caller estimates it
  };
  // A Plan says how the jobs share the GPU until the next call.
  struct Plan {
    Way way = Way::kTurns;
    SlotIndex owner = kNobody;  // kExclusive: the job that has the GPU
  };

  // Returns what the jobs do from now on. REQUIRES: `jobs` has two jobs at least, in the order of their
  // gangs' names, and they are those of the last call, unless Reset() was called since.
  Plan Advance(std::span<const Job> jobs, Time now);
  // Begins anew for another set of jobs. Keeps the settings, looked(), lost() and what jobs take alone.
  void Reset();
  // Says that the same jobs do not share for a while. Keeps the way that was chosen and the rates, and breaks
  // off the present measurement.
  void Pause();
  // Says that another job has the slot from now on: forgets what the old one took alone.
  void Forget(SlotIndex slot) { alone_[slot] = 0; }
  // Sets whether jobs can run one after the other. They cannot in time-slices, because a turn then lasts
  // until all ranks have come to its end. Choose() then takes turns only if they gain enough (turn/ways.h).
  void set_exclusive(bool on) { exclusive_ = on; }
  // Sets for how many iterations a job keeps its turns in time-slices (turn/slices.h); 1 means no slices.
  // With slices the jobs run one after the other by turns, so turns are the way that the guard goes back to.
  // A new value makes the guard Reset().
  void set_slice(std::uint32_t iterations);

  Way settled() const { return settled_; }  // what the last look has chosen
  // Returns whether a look is under way.
  bool trying() const { return step_ == Step::kTurns || step_ == Step::kSideBySide || step_ == Step::kAlone; }
  // rate() returns the rate of a way as it was measured last, 0 while unknown. tried_at() returns when the
  // last look ended, kNever before.
  double rate(Way way) const { return rate_[Index(way)]; }
  Time tried_at() const { return tried_at_; }
  // looked() returns for how long looks have run in other ways than the one that they chose. lost() returns
  // what that has cost: how much less time the chosen way would have needed for the same work.
  Time looked() const { return looked_; }
  Time lost() const { return lost_; }
  // Returns what an iteration of a client takes alone, as it was measured last, or kNever.
  Time alone(SlotIndex slot) const { return slot < kMaxSlots && alone_[slot] > 0 ? alone_[slot] : kNever; }
  // Returns the number of iterations that alone() is the mean of.
  std::uint32_t alone_over(SlotIndex slot) const { return slot < kMaxSlots ? alone_over_[slot] : 0; }
  // Returns when alone() was measured, or kNever.
  Time alone_at(SlotIndex slot) const { return alone(slot) == kNever ? kNever : alone_at_[slot]; }

 private:
  enum class Step : std::uint8_t { kMeeting, kSettled, kAlone, kTurns, kSideBySide };
  // A look measures the ways, what the jobs take alone, or both. A look that begins anew uses nothing that
  // was measured before.
  enum class Look : std::uint8_t { kWays, kAlone, kBoth, kAnew, kAnewAndAlone };
  using Meters = std::array<StepMeter, kMaxSlots>;
  static constexpr int Index(Way way) { return static_cast<int>(way); }

  void Watch(std::span<const Job> jobs, Time now);
  void Move(std::span<const Job> jobs, std::uint32_t before, Time now);
  bool Stands(std::span<const Job> jobs, Time now) const;
  void GiveUp(Time now);
  void Meet(Time now);
  std::uint32_t Meeting() const;
  void EndTurns(std::span<const Job> jobs, std::uint32_t length, Time now);
  void Enter(Step step, std::uint32_t base, std::uint32_t length, Time now);
  bool Ended(std::span<const Job> jobs);
  bool InSlices() const { return slice_ > 1 && WayNow() == Way::kTurns; }
  void CountSlices(std::span<const Job> jobs, Time now);
  std::uint32_t Glance() const;
  bool IsClearAtAGlance(std::span<const Job> jobs, std::uint32_t before) const;
  void BeginLook(std::span<const Job> jobs, Look look, std::uint32_t base, Time now);
  std::uint32_t BehindAlone(std::span<const Job> jobs, std::uint32_t base) const;
  void EndBlock(std::span<const Job> jobs, Way way);
  bool IsOpen(const Rate& turns, const Rate& side) const;
  void EndRound(std::span<const Job> jobs, bool clear, Time now);
  void EndAlone(std::span<const Job> jobs, Time now);
  void ChooseAgain(std::span<const Job> jobs, Time now);
  void EndLook(std::span<const Job> jobs, const Rate& turns, const Rate& side, Time now);
  Time Decide(std::span<const Job> jobs, const Rate& turns, const Rate& side, Time now);
  Time AddCost();
  void Space(std::span<const Job> jobs, Time cost, bool agreed, bool clear);
  void Settle(Way way, Time now);
  void JudgeWindow(std::span<const Job> jobs, Time now);
  bool HasChanged(std::span<const Job> jobs) const;
  bool SlicesHaveChanged(std::span<const Job> jobs);
  void LookAgain(std::span<const Job> jobs, Time now);
  void Count(Time now);
  bool Passed(std::uint32_t before, std::uint32_t multiple) const;
  std::uint32_t AloneEvery(std::span<const Job> jobs) const;
  bool AloneIsKnown(std::span<const Job> jobs) const;
  bool CanBeAlone(std::span<const Job> jobs) const;
  std::uint32_t SoloOf(SlotIndex slot) const;
  SlotIndex OwnerOf(std::span<const Job> jobs) const;
  Time AloneOf(const Job& job) const { return alone_[job.slot] > 0 ? alone_[job.slot] : job.alone; }
  Rate RateOf(std::span<const Job> jobs, const Meters& meters) const;
  Way WayNow() const;
  // Returns whether the look uses nothing that was measured before it.
  bool IsAnew() const { return look_ == Look::kAnew || look_ == Look::kAnewAndAlone; }

  bool exclusive_ = true;
  std::uint32_t slice_ = 1;
  Step step_ = Step::kMeeting;
  Way settled_ = Way::kTurns;
  bool known_ = false;                  // seen_ and iteration_ hold values
  std::uint32_t seen_[kMaxSlots] = {};  // each job's iteration at the last call
  std::uint32_t iteration_ = 0;         // of the first job, at the last call
  std::uint32_t from_ = 0;              // iteration of the first job from which on meters run
  std::uint32_t until_ = 0;             // and up to which at least
  std::uint32_t length_ = 0;            // of the present block: iterations of the first job that are measured
  std::uint32_t spacing_ = 0;           // iterations of the first job between looks
  std::uint32_t looked_until_ = 0;      // iteration of the first job when the last look ended
  std::uint32_t stood_ = 0;             // looks in a row in which some job's number stood still
  Time moved_at_[kMaxSlots] = {};       // when each job's number changed last
  std::uint32_t alarms_ = 0;            // looks in a row that were not due yet
  bool disappointed_ = false;           // the way that the last look chose gave less than the other way
  bool open_ = true;                    // the last look has not told the ways apart
  Look look_ = Look::kAnew;             // the look that began last
  bool strange_ = false;                // in the last window the jobs had changed (HasChanged)
  std::uint32_t base_[kMaxSlots] = {};  // each job's iteration when the step began
  Time entered_ = kNever;               // when the step began
  Time counted_since_ = kNever;         // in slices: when the measured part of the block began
  std::array<std::uint32_t, kMaxSlots> counted_from_ = {};  // and each job's iteration then
  // In slices, promised_alone_ holds what each job took alone in the first window after the choice, 0 before
  // it, and promised_rate_ holds the rate of the way when it was chosen.
  std::array<Time, kMaxSlots> promised_alone_ = {};
  double promised_rate_ = 0;
  Time spent_[3] = {};  // time that this look has run in each way; kExclusive: in kAlone
  Meters block_;        // measures the present block, or each job while it is alone
  Meters meter_[2];     // measured in the present look, by way; for the chosen way, since the look
  Meters promised_;     // the chosen way's meters when it was chosen
  double rate_[3] = {};
  double other_error_ = 0;  // standard error of the rate of the way that the last look did not choose
  bool quiet_ = false;      // the guard has acted, since the last look, on the chosen way giving less
  std::array<Time, kMaxSlots> alone_ = {};  // 0 while unknown
  std::array<Time, kMaxSlots> alone_at_ = {};
  std::array<std::uint32_t, kMaxSlots> alone_over_ = {};
  Time tried_at_ = kNever;
  Time looked_ = 0;
  Time lost_ = 0;
};

}  // namespace crossover::turn
