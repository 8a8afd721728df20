// Chooses which way the jobs of a GPU share it: by turns, side by side, or exclusively, in slices of whole
// iterations.
//
// Turns pay where a job communicates. Where kernels of two jobs gain by running at once, side by side may pay
// more; where neither pays, one job after the other is the best. None of this can be known beforehand. So the
// guard looks: soon after jobs have met, and again and again, it lets them run by turns and side by side for
// a few iterations each, and compares the rates. A rate is the sum over the jobs of alone / step: one job
// after the other has 1.
//
// A look is a sequence of rounds. Each runs by turns, then side by side, for as many iterations as the round
// is long. Where the difference is larger than its noise the look ends; else a round of twice the length
// follows. So the clearly better way wins within two dozen iterations, and only ways that differ little are
// compared for longer. What jobs take alone is measured early in the same manner, and now and then
// again: each has the GPU for itself for a few iterations. From then on the third way is compared with too.
//
// The next look comes when it may cost its part of the time again, and at once where a job's iterations have
// become longer or shorter, or the chosen way gives less than the other one gave.
//
// All GPUs of a job must change ways together, and no message tells them to. So everything is counted in
// iterations of the first job by name, which all its ranks number alike; looks begin at multiples of powers
// of two; and what is compared is times of whole jobs, which all GPUs see alike. Each round has both ways in
// the same order, whatever the GPU has chosen before: GPUs that chose differently see both ways as they are
// when all GPUs go the same way. Jobs of GPUs that chose differently are slower than the look has promised.
// All GPUs see that, and take the way that is agreed on beforehand: turns, or side by side in time-slices.
//
// A job whose turns end at gaps counts its iterations by its turns, so without turns its number stands still.
// The guard goes back to turns then, and looks again late.
//
// Pure: time comes in. Not thread-safe. Trivially copyable.
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
  // One job, as it stands.
  struct Job {
    SlotIndex slot = kNobody;
    std::uint32_t iteration = 0;  // its number, the same on all ranks
    Time alone = kNever;          // of an iteration, as it is estimated here
  };
  struct Plan {
    Way way = Way::kTurns;
    SlotIndex owner = kNobody;  // kExclusive: the job that has the GPU
  };

  // `jobs` in order of their gangs' names, the same ones as before or Reset() first. Two at least.
  Plan Advance(std::span<const Job> jobs, Time now);
  // Begins anew, except for what is known of jobs alone.
  void Reset();
  // The same jobs do not share for a while: keeps what was found, and breaks off what is being measured.
  void Pause();
  // Another job has the slot from now on.
  void Forget(SlotIndex slot) { alone_[slot] = 0; }
  // Off where jobs cannot run one after the other (in time-slices, where a turn lasts until all ranks have
  // come to its end). Turns are then kept only where they are worth something.
  void set_exclusive(bool on) { exclusive_ = on; }

  Way settled() const { return settled_; }  // what the last look has chosen
  // Whether a look is under way.
  bool trying() const { return step_ == Step::kTurns || step_ == Step::kSideBySide || step_ == Step::kAlone; }
  // Rates as they were last measured, 0 while unknown, and when the last look ended.
  double rate(Way way) const { return rate_[Index(way)]; }
  Time tried_at() const { return tried_at_; }
  // How long looks have run in another way than the one that they chose, and what that has cost: the time in
  // which the chosen way would have done the same work less.
  Time looked() const { return looked_; }
  Time lost() const { return lost_; }
  // What an iteration of a client takes alone, as was measured last, and when that was; kNever before.
  Time alone(SlotIndex slot) const { return slot < kMaxSlots && alone_[slot] > 0 ? alone_[slot] : kNever; }
  // Of how many iterations it is the mean.
  std::uint32_t alone_over(SlotIndex slot) const { return slot < kMaxSlots ? alone_over_[slot] : 0; }
  Time alone_at(SlotIndex slot) const { return alone(slot) == kNever ? kNever : alone_at_[slot]; }

 private:
  enum class Step : std::uint8_t { kMeeting, kSettled, kAlone, kTurns, kSideBySide };
  // What a look measures: the ways, what jobs take alone, or both; or, where nothing counts that was measured
  // before, all anew.
  enum class Look : std::uint8_t { kWays, kAlone, kBoth, kAnew, kAnewAndAlone };
  using Meters = std::array<StepMeter, kMaxSlots>;
  static constexpr int Index(Way way) { return static_cast<int>(way); }

  void Watch(std::span<const Job> jobs, Time now);
  void Move(std::span<const Job> jobs, std::uint32_t before, Time now);
  bool Stands(std::span<const Job> jobs, Time now) const;
  void GiveUp(Time now);
  void Meet(Time now);
  void EndTurns(std::span<const Job> jobs, std::uint32_t length, Time now);
  void Enter(Step step, std::uint32_t base, std::uint32_t length, Time now);
  bool Ended(std::span<const Job> jobs);
  void BeginLook(std::span<const Job> jobs, Look look, std::uint32_t base, Time now);
  std::uint32_t BehindAlone(std::span<const Job> jobs, std::uint32_t base) const;
  void EndBlock(std::span<const Job> jobs, Way way);
  void EndRound(std::span<const Job> jobs, Time now);
  void EndAlone(std::span<const Job> jobs, Time now);
  void ChooseAgain(std::span<const Job> jobs, Time now);
  void EndLook(std::span<const Job> jobs, Time now);
  Time AddCost();
  void Space(std::span<const Job> jobs, Time cost, Way before);
  void Settle(Way way, Time now);
  void JudgeWindow(std::span<const Job> jobs, Time now);
  bool HasChanged(std::span<const Job> jobs) const;
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

  bool exclusive_ = true;
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
  bool anew_ = true;                    // the look uses nothing that was measured before it
  bool strange_ = false;                // the last window was not what was promised
  std::uint32_t base_[kMaxSlots] = {};  // iterations when the step began
  Time entered_ = kNever;               // the step
  Time spent_[3] = {};                  // in this look, by way; kExclusive: in kAlone
  Meters block_;                        // of the present block, or of each job alone
  Meters meter_[2];                     // of the present look by way; of the chosen way, since the look
  Meters promised_;                     // of each job when the way was chosen
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
