// Chooses the way in which the jobs of a GPU share it (turn/ways.h): by turns, side by side, or one after the
// other in slices of whole iterations.
//
// Turns pay where a job communicates. Where kernels of two jobs gain by running at once, side by side may pay
// more. Where neither pays, one job after the other is the best way. The guard cannot know this beforehand,
// so it looks: soon after the jobs have met, and again and again, it lets them run in each way for a few
// iterations and compares the rates.
//
// A look is a sequence of rounds. A round runs by turns, then side by side, for a number of iterations each.
// The look ends when the difference is larger than its noise; else a longer round follows. So the clearly
// better way wins within two dozen iterations, and only ways that differ little are compared for longer. Some
// looks also measure what the jobs take alone: each job has the GPU for itself for a few iterations. From
// then on the third way takes part in the choice.
//
// The next look comes when it may cost its part of the time again. It comes earlier where a job's iterations
// have become longer or shorter, or where the chosen way gives less than the other way gave.
//
// All GPUs of a job must change ways together, and they exchange no message. Therefore:
// - All lengths count iterations of the first job by name, which all its ranks number alike.
// - Looks begin at multiples of powers of two, and each block begins where the block before ends by
// agreement.
// - The guard compares the times of whole jobs, which all GPUs see alike.
// - Each round has both ways in the same order, whatever the GPU chose before. So GPUs that chose differently
//   see each way as it is when all GPUs take it.
// GPUs that choose different ways are slower than the look has promised. All GPUs see that, and go to the way
// that is fixed beforehand: turns, or side by side in time-slices.
//
// A job whose turns end at gaps counts its iterations by its turns, so without turns its number stands still.
// The guard then goes back to turns, and looks again late.
//
// The guard is pure: the caller passes the time. It is not thread-safe, and it is trivially copyable.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "turn/rhythm.h"
#include "turn/step_meter.h"
#include "turn/ways.h"

namespace crossover::turn {

class Guard {
 public:
  // A Job is one job of the GPU, as it is at the time of a call.
  struct Job {
    SlotIndex slot = kNobody;
    std::uint32_t iteration = 0;  // its number, the same on all ranks
    Time alone = kNever;          // of an iteration, as it is estimated here
  };
  struct Plan {
    Way way = Way::kTurns;
    SlotIndex owner = kNobody;  // kExclusive: the job that has the GPU
  };

  // Returns what the jobs do from now on. REQUIRES: `jobs` has two jobs at least, in the order of their
  // gangs' names, and they are those of the last call, unless Reset() was called since.
  Plan Advance(std::span<const Job> jobs, Time now);
  // Forgets everything but what the jobs take alone.
  void Reset();
  // Says that the same jobs do not share for a while. Keeps what was found, and breaks off what is being
  // measured.
  void Pause();
  // Says that another job has the slot from now on.
  void Forget(SlotIndex slot) { alone_[slot] = 0; }
  // Sets whether jobs can run one after the other. They cannot in time-slices, where a turn lasts until all
  // ranks have come to its end. Turns are then kept only where they are worth something.
  void set_exclusive(bool on) { exclusive_ = on; }
  // Sets for how many iterations a job keeps its turns in time-slices (turn/slices.h), 1 for one. In slices,
  // turns are one after the other, and so they are what the guard goes back to.
  void set_slice(std::uint32_t iterations);

  Way settled() const { return settled_; }  // what the last look has chosen
  // Returns whether a look is under way.
  bool trying() const { return step_ == Step::kTurns || step_ == Step::kSideBySide || step_ == Step::kAlone; }
  // Return the rate as it was last measured, 0 while unknown, and the time at which the last look ended.
  double rate(Way way) const { return rate_[Index(way)]; }
  Time tried_at() const { return tried_at_; }
  // looked() returns how long looks have run in other ways than the one that they chose. lost() returns what
  // that has cost: so much less time the chosen way would have needed for the same work.
  Time looked() const { return looked_; }
  Time lost() const { return lost_; }
  // Returns what an iteration of a client takes alone, as it was measured last, or kNever.
  Time alone(SlotIndex slot) const { return slot < kMaxSlots && alone_[slot] > 0 ? alone_[slot] : kNever; }
  // Returns of how many iterations alone() is the mean.
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
  bool IsHopeless(std::span<const Job> jobs, std::uint32_t before) const;
  void BeginLook(std::span<const Job> jobs, Look look, std::uint32_t base, Time now);
  std::uint32_t BehindAlone(std::span<const Job> jobs, std::uint32_t base) const;
  void EndBlock(std::span<const Job> jobs, Way way);
  bool IsOpen(const Rate& turns, const Rate& side) const;
  void EndRound(std::span<const Job> jobs, bool hopeless, Time now);
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
  bool known_ = false;                  // seen_ and iteration_
  std::uint32_t seen_[kMaxSlots] = {};  // iterations
  std::uint32_t iteration_ = 0;         // of the first job, at the last call
  std::uint32_t from_ = 0;              // iteration of the first job from which on meters run
  std::uint32_t until_ = 0;             // and up to which at least
  std::uint32_t length_ = 0;            // of the present block: iterations of the first job that are measured
  std::uint32_t spacing_ = 0;           // iterations of the first job between looks
  std::uint32_t looked_until_ = 0;      // iteration of the first job when the last look ended
  std::uint32_t stood_ = 0;             // looks in a row in which some job's number stood still
  Time moved_at_[kMaxSlots] = {};       // when each job's number changed last
  std::uint32_t alarms_ = 0;            // looks in a row that were not due yet
  bool disappointed_ = false;           // by the way that the last look chose
  bool open_ = true;                    // the last look has not told the ways apart
  Look look_ = Look::kAnew;             // the last one that has begun
  bool strange_ = false;                // the last window was not what was promised
  std::uint32_t base_[kMaxSlots] = {};  // iterations when the step began
  Time entered_ = kNever;               // the step
  Time counted_since_ = kNever;         // in slices: when the measured part of the block began
  std::array<std::uint32_t, kMaxSlots> counted_from_ = {};  // and each job's iteration then
  // These hold, in slices, what jobs took alone when the way was chosen, 0 until the first window, and the
  // rate.
  std::array<Time, kMaxSlots> promised_alone_ = {};
  double promised_rate_ = 0;
  Time spent_[3] = {};  // in this look, by way; kExclusive: in kAlone
  Meters block_;        // of the present block, or of each job alone
  Meters meter_[2];     // of the present look by way; of the chosen way, since the look
  Meters promised_;     // of each job when the way was chosen
  double rate_[3] = {};
  double other_error_ = 0;  // standard error of the rate of the way that the last look did not choose
  bool quiet_ = false;      // that the chosen way gives less is known since the last look
  std::array<Time, kMaxSlots> alone_ = {};  // 0 while unknown
  std::array<Time, kMaxSlots> alone_at_ = {};
  std::array<std::uint32_t, kMaxSlots> alone_over_ = {};
  Time tried_at_ = kNever;
  Time looked_ = 0;
  Time lost_ = 0;
};

}  // namespace crossover::turn
