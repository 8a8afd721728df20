// Sets the pace of the guard: which step comes next, when a block begins and ends, and when a look is due.
#include "turn/guard.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "turn/guard_lengths.h"

namespace crossover::turn {

void Guard::Reset() {
  Guard anew;
  anew.exclusive_ = exclusive_;
  anew.slice_ = slice_;
  anew.alone_ = alone_;
  anew.alone_at_ = alone_at_;
  anew.alone_over_ = alone_over_;
  anew.looked_ = looked_;
  anew.lost_ = lost_;
  *this = anew;
}

// A change forgets what was measured: turns with a slice of another length tell nothing about these.
void Guard::set_slice(std::uint32_t iterations) {
  if (std::exchange(slice_, iterations) != iterations) Reset();
}

void Guard::Pause() {
  known_ = false;
  if (spacing_ == 0) {
    step_ = Step::kMeeting;
    return;
  }
  step_ = Step::kSettled;
}

Guard::Plan Guard::Advance(std::span<const Job> jobs, Time now) {
  const bool resumed = !known_;
  const std::uint32_t before = resumed ? jobs[0].iteration : iteration_;
  iteration_ = jobs[0].iteration;
  Watch(jobs, now);
  if (resumed && step_ == Step::kSettled)
    Enter(Step::kSettled, AlignUp(iteration_, kDisturbed), kWindow, now);
  if (resumed && step_ == Step::kMeeting) Meet(now);
  if (Stands(jobs, now)) GiveUp(now);
  if (iteration_ != before || step_ == Step::kAlone) Move(jobs, before, now);
  const Way way = WayNow();
  return {way, way == Way::kExclusive ? OwnerOf(jobs) : kNobody};
}

std::uint32_t Guard::Glance() const { return from_ + (slice_ > 1 ? kGlanceInSlices : kGlance); }

// Returns whether some job's number has stood still for long without turns. A job whose turns end at gaps
// counts its iterations by its turns: without turns a look at side by side never ends.
bool Guard::Stands(std::span<const Job> jobs, Time now) const {
  if (WayNow() == Way::kTurns) return false;
  return std::any_of(jobs.begin(), jobs.end(), [this, now](const Job& job) {
    const Time step = meter_[Index(Way::kTurns)][job.slot].step();
    const Time patience = step == kNever ? kStands : std::max(kStands, kStandsFor * step);
    return now - std::max(moved_at_[job.slot], entered_) > patience;
  });
}

// Goes back to turns because a job's number stands still. Each further such look in a row doubles the
// distance to the next one.
void Guard::GiveUp(Time now) {
  stood_ = std::min<std::uint32_t>(stood_ + 1, kMostStood);
  spacing_ = kLater << stood_;
  rate_[Index(Way::kSideBySide)] = 0;
  looked_until_ = iteration_;
  promised_ = {};
  settled_ = Way::kTurns;
  Enter(Step::kSettled, AlignUp(iteration_, kDisturbed), kWindow, now);
}

// Goes on to the next step if the present one has come to its end. `before` is the first job's iteration at
// the last call.
void Guard::Move(std::span<const Job> jobs, std::uint32_t before, Time now) {
  switch (step_) {
    case Step::kMeeting:
      if (!Reached(iteration_, until_) && Passed(before, Meeting()) && now - entered_ >= kFirstLookAfter)
        return BeginLook(jobs, Look::kAnew, AlignDown(iteration_, Meeting()), now);
      return EndTurns(jobs, kFirstRound, now);
    case Step::kSettled: {
      const std::uint32_t every = AloneEvery(jobs);
      const bool alone = exclusive_ && stood_ == 0 && Passed(before, every) && CanBeAlone(jobs);
      const bool round = Passed(before, spacing_);
      if (round)
        return BeginLook(jobs, alone ? Look::kBoth : Look::kWays, AlignDown(iteration_, spacing_), now);
      if (alone) return BeginLook(jobs, Look::kAlone, AlignDown(iteration_, every), now);
      if (settled_ != Way::kExclusive && Ended(jobs)) JudgeWindow(jobs, now);
      return;
    }
    case Step::kAlone:
      return EndAlone(jobs, now);
    case Step::kTurns:
      return EndTurns(jobs, length_, now);
    case Step::kSideBySide:
      if (IsClearAtAGlance(jobs, before)) {
        until_ = Glance();
        return EndRound(jobs, true, now);
      }
      if (Ended(jobs)) EndRound(jobs, false, now);
      return;
  }
}

std::uint32_t Guard::Meeting() const { return slice_ > 1 ? kMeetingInSlices : kMeeting; }

// Begins to measure turns for the first look. Only the last kWindow iterations before the look count.
void Guard::Meet(Time now) {
  look_ = Look::kAnew;
  for (Time& spent : spent_) spent = 0;
  Enter(Step::kMeeting, iteration_, kFirstRound, now);
  until_ = AlignUp(iteration_ + kFirstLook, Meeting());
  from_ = until_ - kWindow;
}

// Ends a block by turns when it has been measured for long enough. A block side by side follows.
void Guard::EndTurns(std::span<const Job> jobs, std::uint32_t length, Time now) {
  if (!Ended(jobs)) return;
  // Turns go on while a job's iteration alone is unknown: side by side would tell nothing about it.
  if (!std::all_of(jobs.begin(), jobs.end(), [this](const Job& job) { return AloneOf(job) != kNever; }))
    return Enter(Step::kTurns, until_, kFirstRound, now);
  EndBlock(jobs, Way::kTurns);
  Enter(Step::kSideBySide, until_, length, now);
}

// Begins a step. `base` is the first job's iteration at which the step begins on all GPUs: the present one,
// or one shortly before it, because the GPUs see the numbers change at different times.
void Guard::Enter(Step step, std::uint32_t base, std::uint32_t length, Time now) {
  Count(now);
  step_ = step;
  entered_ = now;
  length_ = length;
  block_ = {};
  counted_since_ = kNever;
  for (SlotIndex slot = 0; slot < kMaxSlots; ++slot) base_[slot] = seen_[slot];
  std::uint32_t disturbed = step == Step::kSettled ? kDisturbed : std::max(length / 4, kDisturbed);
  // Side by side may be very slow. Jobs that come from turns are a little faster at first.
  if (step == Step::kSideBySide) disturbed = slice_ > 1 ? kDisturbed / 2 : length / 4;
  from_ = base + disturbed;
  // A block in slices is at least one slice long, so that each job has a slice in it.
  until_ = from_ + (InSlices() ? std::max(length, slice_) : length);
}

void Guard::BeginLook(std::span<const Job> jobs, Look look, std::uint32_t base, Time now) {
  look_ = look;
  for (Time& spent : spent_) spent = 0;
  if (IsAnew()) {
    for (Meters& meters : meter_) meters = {};
    disappointed_ = false;
  }
  if (look != Look::kAlone) {
    for (Meters& meters : meter_) {
      for (StepMeter& meter : meters) meter.Fade(kBefore);
    }
    quiet_ = false;
    if (!IsAnew()) alarms_ = 0;
  }
  const bool alone = look == Look::kAlone || look == Look::kBoth || look == Look::kAnewAndAlone;
  if (alone && exclusive_) {
    Enter(Step::kAlone, base, kFirstRound, now);
    until_ = BehindAlone(jobs, base);
    return;
  }
  // Other GPUs of the jobs may first measure what jobs take alone at this iteration, so this one waits for
  // them.
  const bool others = exclusive_ && base % kAloneSoon == 0;
  Enter(Step::kTurns, others ? BehindAlone(jobs, base) : base, kFirstRound, now);
}

// Sets the distance to the next look. `agreed` says that this look has confirmed the one before, and `clear`
// that it needs no confirmation.
void Guard::Space(std::span<const Job> jobs, Time cost, bool agreed, bool clear) {
  if (clear) {
    spacing_ = kLater;
    return;
  }
  const Time step =
      settled_ == Way::kExclusive ? AloneOf(jobs[0]) : meter_[Index(settled_)][jobs[0].slot].step();
  const double apart =
      static_cast<double>(cost) / static_cast<double>(step) / (agreed ? kCost : kCostAtFirst);
  if (open_) {
    spacing_ = kSoon;
    while (spacing_ < kLater / 2 && spacing_ < apart) spacing_ *= 2;
    return;
  }
  const std::uint32_t most = agreed ? kLater : kLater / 4;
  spacing_ = agreed ? std::min(2 * spacing_, kLater) : IsAnew() ? kLater / 4 : kSoon;
  while (spacing_ < most && spacing_ < apart) spacing_ *= 4;
}

// Begins a look that is not due yet, unless the last look is too recent. Each further such look in a row
// waits twice as long.
void Guard::LookAgain(std::span<const Job> jobs, Time now) {
  const std::uint32_t wait = kSoon / 2 << std::min<std::uint32_t>(alarms_, 5);
  if (!Reached(iteration_, looked_until_ + wait)) return Enter(Step::kSettled, until_, kWindow, now);
  ++alarms_;
  BeginLook(jobs, Look::kAnewAndAlone, until_, now);
}

// Returns whether a multiple of `multiple` lies behind `before` and not behind the present iteration.
bool Guard::Passed(std::uint32_t before, std::uint32_t multiple) const {
  return multiple != 0 && iteration_ / multiple != before / multiple;
}

// Returns the multiple of iterations at which looks measure what jobs take alone.
std::uint32_t Guard::AloneEvery(std::span<const Job> jobs) const {
  if (AloneIsKnown(jobs)) return kAloneEach;
  return rate(settled_) < kAloneMatters ? kAloneSoon : kAloneLater;
}

// Returns the job that has had the fewest slices since the step began. GPUs that see the same iterations name
// the same job, whatever they saw before.
SlotIndex Guard::OwnerOf(std::span<const Job> jobs) const {
  SlotIndex owner = jobs[0].slot;
  std::uint32_t fewest = UINT32_MAX;
  for (const Job& job : jobs) {
    const std::uint32_t slice = step_ == Step::kAlone ? SoloOf(job.slot) : SliceOf(AloneOf(job));
    if (slice == 0) continue;
    const std::uint32_t slices = (job.iteration - base_[job.slot]) / slice;
    if (slices >= fewest) continue;
    fewest = slices;
    owner = job.slot;
  }
  return owner;
}

Way Guard::WayNow() const {
  switch (step_) {
    case Step::kMeeting:
    case Step::kTurns:
      return Way::kTurns;
    case Step::kSideBySide:
      return Way::kSideBySide;
    case Step::kAlone:
      return Way::kExclusive;
    case Step::kSettled:
      break;
  }
  return settled_;
}

}  // namespace crossover::turn
