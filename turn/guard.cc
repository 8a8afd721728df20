#include "turn/guard.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace crossover::turn {
namespace {

// Lengths without a unit count iterations of the first job. A block first runs unmeasured for a quarter of
// its length, because a change of ways disturbs the jobs. By turns it does so for kDisturbed at least.
constexpr std::uint32_t kFirstRound = 8;
constexpr std::uint32_t kLastRound = 16;
constexpr std::uint32_t kDisturbed = 4;
constexpr std::uint32_t kWindow = 32;  // between looks, the chosen way is measured in blocks of this length
constexpr std::uint32_t kLongest = 1024;  // a block grows to this if another job's iterations are longer
constexpr double kLeastOfEach = 4;  // iterations of each job that a block measures, or it becomes longer
// Old measurements of a way count as so many iterations at most: kBefore beside those of a look, kRemembered
// beside those of a window.
constexpr double kBefore = 256;
constexpr double kRemembered = 256;
// A look costs at most this part of the time until the next look: kCostAtFirst if it has changed something,
// kCost if it has not. Looks are apart by powers of four, so that GPUs that measure costs differently seldom
// choose different distances.
constexpr double kCostAtFirst = 0.02;
constexpr double kCost = 0.005;
constexpr std::uint32_t kSoon = 64;
constexpr std::uint32_t kLater = 1024;
// The first look begins at a multiple of kMeeting, when the jobs have taken turns for kFirstLook iterations
// or for kFirstLookAfter. Until then the policy learns what the jobs need, and the guard measures turns.
// After that time the cost of a look is small beside it.
constexpr std::uint32_t kMeeting = 16;
constexpr std::uint32_t kFirstLook = 48;
// In slices the first look begins at a multiple of this. It can come later there, because slices cost little.
// GPUs whose jobs meet a few iterations apart then seldom look at different times, which would cost much if
// side by side is slow.
constexpr std::uint32_t kMeetingInSlices = 64;
constexpr Time kFirstLookAfter = 2'400'000'000;
// Looks that begin at multiples of these numbers measure what jobs take alone: of kAloneSoon if one after the
// other may be the best way, of kAloneLater if the jobs gain more, and of kAloneEach once the guard knows it
// of all jobs. Jobs that share well lose most while one of them is alone: at the rate 2 as much as 8
// iterations.
constexpr std::uint32_t kAloneSoon = 128;
constexpr std::uint32_t kAloneLater = 1024;
constexpr std::uint32_t kAloneEach = 4096;
// At a higher rate one after the other is not the best way: the rates that rest on estimates are wrong by
// less than this.
constexpr double kAloneMatters = 1.12;

// Each job is alone for as many iterations as last kSolo while the jobs share. A job whose shared iteration
// lasts longer than kLongestSolo is never alone: the others would wait for too long, and its turns show well
// enough what it takes.
constexpr Time kSolo = 50'000'000;
constexpr Time kLongestSolo = 100'000'000;
constexpr std::uint32_t kLeastSolo = 8;
constexpr Time kSlice = 250'000'000;             // one after the other: how long a job has the GPU at a time
constexpr std::uint32_t kMostIterations = 1024;  // that a job has in such a slice

// In slices a job's iterations come in bursts, so single ones tell nothing. The guard counts those that all
// jobs have done in a block, and takes them to spread by this part of their mean.
constexpr double kSpreadInSlices = 0.05;
// Side by side may be so slow that a look costs much. So a look has a glance at this way when the first job
// has been measured over kGlance iterations, and ends there if turns surely give more. In slices, where a
// switch of contexts may take long, it has its glance after kGlanceInSlices. It ends there if side by side
// gives less than kHopeless of what turns give, and the next look comes late.
constexpr std::uint32_t kGlance = 4;
constexpr std::uint32_t kGlanceInSlices = 2;
constexpr double kHopeless = 0.7;
constexpr std::uint32_t kMuchLater = 4096;

// The error of a mean of n iterations counts for 1 + kFew / n of it.
constexpr double kFew = 4;
constexpr double kSurely = 4;  // a difference of so many standard errors makes the guard look early
// A job counts as changed when the length of its iterations differs by this part from that at the choice.
constexpr double kChanged = 0.2;

// Returns how many iterations of `length` last for `wanted`: `least` times a power of two, at most
// kMostIterations.
std::uint32_t IterationsFor(Time wanted, Time length, std::uint32_t least) {
  std::uint32_t iterations = least;
  while (iterations < kMostIterations && iterations * length < wanted) iterations *= 2;
  return iterations;
}
std::uint32_t SliceOf(Time alone) { return IterationsFor(kSlice, alone, 1); }

// A job's number stands still when it has not changed for kStands, and for kStandsFor of the job's steps.
// Such a job counts its iterations only while it takes turns. Looks are put off by kLater, doubled at most
// kMostStood times.
constexpr Time kStands = 2'000'000'000;
constexpr Time kStandsFor = 16;
constexpr std::uint32_t kMostStood = 8;

bool Reached(std::uint32_t iteration, std::uint32_t mark) {
  return static_cast<std::int32_t>(iteration - mark) >= 0;
}

std::uint32_t AlignDown(std::uint32_t iteration, std::uint32_t multiple) {
  return iteration / multiple * multiple;
}

std::uint32_t AlignUp(std::uint32_t iteration, std::uint32_t multiple) {
  return (iteration + multiple - 1) / multiple * multiple;
}

}  // namespace

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

void Guard::Watch(std::span<const Job> jobs, Time now) {
  const bool measured = step_ != Step::kAlone && Reached(iteration_, from_);
  for (const Job& job : jobs) {
    const bool changed = known_ && seen_[job.slot] != job.iteration;
    if (changed || !known_) moved_at_[job.slot] = now;
    seen_[job.slot] = job.iteration;
    if (changed && measured && !InSlices()) block_[job.slot].See(job.iteration, now);
  }
  known_ = true;
  if (measured && InSlices()) CountSlices(jobs, now);
}

// Counts the iterations that each job has done since the measured part of the block began. While one job has
// its slice, the others do nothing, so only all of them over the whole block tell what turns give.
void Guard::CountSlices(std::span<const Job> jobs, Time now) {
  if (counted_since_ == kNever) {
    counted_since_ = now;
    for (const Job& job : jobs) counted_from_[job.slot] = job.iteration;
    return;
  }
  for (const Job& job : jobs) {
    const std::uint32_t done = job.iteration - counted_from_[job.slot];
    block_[job.slot] = {};
    if (done > 0) block_[job.slot].SeeMany(done, (now - counted_since_) / done, kSpreadInSlices);
  }
}

std::uint32_t Guard::Glance() const { return from_ + (slice_ > 1 ? kGlanceInSlices : kGlance); }

// Returns whether the block side by side shows at its glance that turns are the better way. All GPUs have
// their glance at the same iteration. `before` is the first job's iteration at the last call.
bool Guard::IsClearAtAGlance(std::span<const Job> jobs, std::uint32_t before) const {
  if (Reached(before, Glance()) || !Reached(iteration_, Glance())) return false;
  const Rate side = RateOf(jobs, block_);
  const Rate turns = RateOf(jobs, meter_[Index(Way::kTurns)]);
  if (slice_ > 1) return side.value > 0 && side.value < kHopeless * turns.value;
  return settled_ == Way::kTurns && Compare(turns, side) == Verdict::kTurns;
}

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

// Returns whether the present block has been measured for long enough. Doubles the length of a block that has
// come to its end before each job has done kLeastOfEach iterations in it.
bool Guard::Ended(std::span<const Job> jobs) {
  if (!Reached(iteration_, until_)) return false;
  const bool all = std::all_of(jobs.begin(), jobs.end(), [this](const Job& job) {
    return block_[job.slot].iterations() >= kLeastOfEach;
  });
  if (all || length_ >= kLongest) return true;
  until_ += length_;
  length_ *= 2;
  return false;
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

// Returns the iteration at which a look that began at `base` goes on after the jobs have been alone. By then
// the first job has had its iterations alone, and a few more that its host had queued.
std::uint32_t Guard::BehindAlone(std::span<const Job> jobs, std::uint32_t base) const {
  return base + kDisturbed + SoloOf(jobs[0].slot);
}

// Adds the block to the meters of a way. Older measurements of the way are dropped if they contradict it.
void Guard::EndBlock(std::span<const Job> jobs, Way way) {
  Meters& meters = meter_[Index(way)];
  const Rate before = RateOf(jobs, meters);
  const Rate now = RateOf(jobs, block_);
  const bool agrees = std::abs(now.value - before.value) <= kSurely * std::hypot(now.error, before.error);
  if (!agrees) meters = {};
  for (const Job& job : jobs) meters[job.slot].Add(block_[job.slot]);
}

// Returns whether the look has not told enough. Jobs that take turns go on with them if turns lead by one
// standard error. Until the next look, after 256 iterations, they lose no more by that than a second round
// costs. (With a lead of z standard errors s, the expected loss of an iteration is s (phi(z) - z (1 -
// Phi(z))): 0.08 s at z = 1. The round has 20 iterations, each of which loses z s.)
bool Guard::IsOpen(const Rate& turns, const Rate& side) const {
  return Compare(turns, side) == Verdict::kOpen && !(settled_ == Way::kTurns && TurnsLead(turns, side));
}

// Ends a round: ends the look, or begins a longer round if the look has not told enough. `clear` says that
// a glance has told enough.
void Guard::EndRound(std::span<const Job> jobs, bool clear, Time now) {
  EndBlock(jobs, Way::kSideBySide);
  const Rate turns = RateOf(jobs, meter_[Index(Way::kTurns)]);
  const Rate side = RateOf(jobs, meter_[Index(Way::kSideBySide)]);
  rate_[Index(Way::kTurns)] = turns.value;
  rate_[Index(Way::kSideBySide)] = side.value;
  if (!clear && IsOpen(turns, side) && length_ < kLastRound)
    return Enter(Step::kTurns, until_, 2 * length_, now);
  EndLook(jobs, turns, side, now);
  if (!clear || slice_ == 1) return;
  open_ = false;
  spacing_ = kMuchLater;
}

// Measures each job while it is alone, and ends this step when all have been. The first half of a job's slice
// does not count, because the job before it disturbs it. Iterations that its host counts during the next
// job's slice do not count either, because hosts run ahead.
void Guard::EndAlone(std::span<const Job> jobs, Time now) {
  for (const Job& job : jobs) {
    const std::uint32_t slice = SoloOf(job.slot);
    const std::uint32_t done = job.iteration - base_[job.slot];
    StepMeter& meter = block_[job.slot];
    if (done < slice / 2) meter = StepMeter();
    if (done >= slice / 2 && done <= slice) meter.SeeOnce(job.iteration, now);
    if (done < slice) return;
  }
  for (const Job& job : jobs) {
    const Time step = block_[job.slot].step();
    const Time shared = promised_[job.slot].step();
    if (step == kNever || (shared != kNever && step > shared + shared / 10)) continue;
    alone_[job.slot] = step;
    alone_at_[job.slot] = now;
    alone_over_[job.slot] = static_cast<std::uint32_t>(block_[job.slot].iterations());
  }
  if (look_ == Look::kAlone) return ChooseAgain(jobs, now);
  Enter(Step::kTurns, until_, length_, now);
}

// Chooses again between the ways, by the rates measured before and what the jobs now are known to take alone.
void Guard::ChooseAgain(std::span<const Job> jobs, Time now) {
  const Rate turns = RateOf(jobs, meter_[Index(Way::kTurns)]);
  const Rate side = RateOf(jobs, meter_[Index(Way::kSideBySide)]);
  if (turns.value > 0) rate_[Index(Way::kTurns)] = turns.value;
  if (side.value > 0) rate_[Index(Way::kSideBySide)] = side.value;
  const Way before = settled_;
  Decide(jobs, turns, side, now);
  if (settled_ == before) return Enter(Step::kSettled, until_, kWindow, now);
  spacing_ = kLater / 4;
  Settle(settled_, now);
}

// Chooses a way by these rates. Counts and returns what the look has cost.
Time Guard::Decide(std::span<const Job> jobs, const Rate& turns, const Rate& side, Time now) {
  rate_[Index(Way::kExclusive)] = exclusive_ ? 1 : 0;
  settled_ = Choose(settled_, turns, side, exclusive_, AloneIsKnown(jobs));
  Count(now);
  entered_ = now;
  return AddCost();
}

void Guard::EndLook(std::span<const Job> jobs, const Rate& turns, const Rate& side, Time now) {
  stood_ = 0;
  const Way before = settled_;
  open_ = IsOpen(turns, side);
  const Time cost = Decide(jobs, turns, side, now);
  other_error_ = (settled_ == Way::kTurns ? side : turns).error;
  const bool clear = settled_ != Way::kExclusive && DifferClearly(turns, side);
  Space(jobs, cost, !IsAnew() && settled_ == before, clear);
  tried_at_ = now;
  looked_until_ = until_;
  Settle(settled_, now);
}

// Counts and returns the time that the look has cost, measured against the way that it chose.
Time Guard::AddCost() {
  double cost = 0;
  for (const Way other : {Way::kTurns, Way::kSideBySide, Way::kExclusive}) {
    const double known = other == Way::kExclusive ? 1 : rate(other);
    if (other == settled_ || rate(settled_) <= 0 || known <= 0) continue;
    looked_ += spent_[Index(other)];
    cost += static_cast<double>(spent_[Index(other)]) * std::max(0.0, 1 - known / rate(settled_));
  }
  lost_ += static_cast<Time>(cost);
  return static_cast<Time>(cost);
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

void Guard::Settle(Way way, Time now) {
  settled_ = way;
  strange_ = false;
  promised_alone_ = {};
  promised_rate_ = rate(way);
  if (way != Way::kExclusive) {
    promised_ = meter_[Index(way)];
    meter_[Index(way)] = {};
  }
  Enter(Step::kSettled, until_, kWindow, now);
}

void Guard::JudgeWindow(std::span<const Job> jobs, Time now) {
  Meters& meters = meter_[Index(settled_)];
  for (const Job& job : jobs) {
    meters[job.slot].Fade(kRemembered);
    meters[job.slot].Add(block_[job.slot]);
  }
  const Rate found = RateOf(jobs, meters);
  if (found.value > 0) rate_[Index(settled_)] = found.value;
  const Way other = settled_ == Way::kTurns ? Way::kSideBySide : Way::kTurns;
  const Way agreed = exclusive_ || slice_ > 1 ? Way::kTurns : Way::kSideBySide;
  const bool disappoints =
      found.value > 0 && found.value + kSurely * std::hypot(found.error, other_error_) < rate(other);
  if (disappoints && !std::exchange(quiet_, true)) {
    spacing_ = exclusive_ && !disappointed_ ? kLater / 4 : kLater;
    disappointed_ = true;
    if (settled_ != agreed) return Settle(agreed, now);
  }
  if (!disappoints && settled_ != agreed) disappointed_ = false;
  const bool changed = InSlices() ? SlicesHaveChanged(jobs) : HasChanged(jobs);
  if (changed && std::exchange(strange_, true)) return LookAgain(jobs, now);
  strange_ = changed;
  Enter(Step::kSettled, until_, kWindow, now);
  from_ = iteration_;
  until_ = AlignUp(iteration_ + 1, kWindow);
}

// Returns whether some job's iterations have another length than at the time of the choice.
bool Guard::HasChanged(std::span<const Job> jobs) const {
  return std::any_of(jobs.begin(), jobs.end(), [this](const Job& job) {
    const StepMeter& found = block_[job.slot];
    const StepMeter& promised = promised_[job.slot];
    if (found.step() == kNever || promised.step() == kNever || promised.step() <= 0) return false;
    const double change = std::log(static_cast<double>(found.step()) / static_cast<double>(promised.step()));
    return std::abs(change) > std::max(kChanged, kSurely * std::hypot(found.error(), promised.error()));
  });
}

// Returns the same for turns in slices. The first slices after a change of ways are shorter than others, so
// the steps of single jobs say nothing there. What the jobs take alone does, and what they do together.
bool Guard::SlicesHaveChanged(std::span<const Job> jobs) {
  const auto differs = [](double found, double promised) {
    return found > 0 && promised > 0 && std::abs(std::log(found / promised)) > kChanged;
  };
  bool changed = differs(RateOf(jobs, block_).value, promised_rate_);
  for (const Job& job : jobs) {
    const Time alone = AloneOf(job);
    if (alone == kNever) continue;
    Time& promised = promised_alone_[job.slot];
    if (promised == 0) promised = alone;
    changed |= differs(static_cast<double>(alone), static_cast<double>(promised));
  }
  return changed;
}

// Begins a look that is not due yet, unless the last look is too recent. Each further such look in a row
// waits twice as long.
void Guard::LookAgain(std::span<const Job> jobs, Time now) {
  const std::uint32_t wait = kSoon / 2 << std::min<std::uint32_t>(alarms_, 5);
  if (!Reached(iteration_, looked_until_ + wait)) return Enter(Step::kSettled, until_, kWindow, now);
  ++alarms_;
  BeginLook(jobs, Look::kAnewAndAlone, until_, now);
}

void Guard::Count(Time now) {
  if (entered_ == kNever || !trying()) return;
  spent_[Index(WayNow())] += now - entered_;
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

// Returns whether the guard has measured what each job takes alone, as far as the job can be alone.
bool Guard::AloneIsKnown(std::span<const Job> jobs) const {
  return std::all_of(jobs.begin(), jobs.end(),
                     [this](const Job& job) { return alone_[job.slot] > 0 || SoloOf(job.slot) == 0; });
}

bool Guard::CanBeAlone(std::span<const Job> jobs) const {
  return std::any_of(jobs.begin(), jobs.end(), [this](const Job& job) { return SoloOf(job.slot) != 0; });
}

std::uint32_t Guard::SoloOf(SlotIndex slot) const {
  Time shared = meter_[Index(Way::kTurns)][slot].step();
  if (shared == kNever) shared = promised_[slot].step();
  if (shared > kLongestSolo) return 0;  // unknown, too
  return IterationsFor(kSolo, shared, kLeastSolo);
}

Rate Guard::RateOf(std::span<const Job> jobs, const Meters& meters) const {
  Rate rate;
  for (const Job& job : jobs) {
    const StepMeter& meter = meters[job.slot];
    if (meter.step() == kNever || meter.step() <= 0 || AloneOf(job) == kNever) return {};
    const double part = static_cast<double>(AloneOf(job)) / static_cast<double>(meter.step());
    rate.value += part;
    // The error is larger for few iterations: their spread tells little of the iterations that take long now
    // and then. The errors add up, because what disturbs one job disturbs the others.
    rate.error += part * meter.error() * (1 + kFew / meter.iterations());
  }
  return rate;
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
