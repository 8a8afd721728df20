#include "turn/guard.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace crossover::turn {
namespace {

// All lengths are in units. A unit is 8 iterations of the first job, or 16, 32 and so on. It lasts at least
// for kLeastUnit and for 6 iterations of the longest job, so that a measurement now and then is precise
// enough. The length of iterations is measured over kLearned of them, in the same iterations on all GPUs.
// The unit is a power of two, so that different measurements seldom lead to different units.
constexpr std::uint32_t kLeastIterations = 8;
constexpr std::uint32_t kMostIterations = 1024;
constexpr std::uint32_t kLearned = 16;
constexpr Time kLeastUnit = 100'000'000;
constexpr Time kLeastOfLongest = 6;  // equal jobs are far from the point where it would matter
// These are in half units: the part that a change of ways disturbs, and the part that is measured after it.
constexpr std::uint32_t kDisturbed = 1;
constexpr std::uint32_t kMeasured = 3;
constexpr std::uint32_t kMeasuredLong = 10;
// In a trial each job runs alone for as many iterations as last for kLeastUnit when shared, so for at most
// one unit. It does not run alone if the others would wait longer than this. The estimate for such a long
// job is precise enough.
constexpr Time kMostSolo = 800'000'000;
// A trial begins when the first job's iteration passes a multiple of so many units. This is so rare that no
// job is alone for more than 0.5% of the time. Trials come sooner where turns gain so little that little
// can be lost. Another trial follows soon after the first early one, and after any trial that has changed
// the way, because the trial may have met a bad moment.
constexpr std::uint32_t kSparseEach = 256;  // per job
constexpr std::uint32_t kDense = 4;
constexpr std::uint32_t kAgain = 16;
// If some job's time alone is not known yet, it is measured when a multiple of so many units is passed.
constexpr std::uint32_t kLook = 64;
constexpr double kLittle = 1.1;
constexpr Time kUnsure = 12'000'000;  // shared iterations shorter than this are known too roughly
constexpr Time kSlice = 250'000'000;
// A smaller gain changes nothing. With a larger limit, jobs might be 1% slower than one after the other.
// The reason is that a rate measured right after a change is a little lower than the rate in the long run.
constexpr double kBetter = 1.0075;
constexpr double kWorthTurns = 1.01;
// If the settled way gives less than this part of its rate in the trial, other GPUs have settled for
// another way.
constexpr double kStillTheSame = 0.95;

// Returns the least power of two, from `least` on, of iterations of the length `length` that last for
// `wanted`.
std::uint32_t IterationsFor(Time wanted, Time length, std::uint32_t least) {
  std::uint32_t iterations = least;
  while (iterations < kMostIterations && iterations * length < wanted) iterations *= 2;
  return iterations;
}
std::uint32_t SliceOf(Time alone) { return IterationsFor(kSlice, alone, 1); }
std::uint32_t SparseFor(std::size_t jobs) {
  return kSparseEach * std::bit_ceil(static_cast<std::uint32_t>(jobs));
}

bool Reached(std::uint32_t iteration, std::uint32_t mark) {
  return static_cast<std::int32_t>(iteration - mark) >= 0;
}

}  // namespace

void Guard::Meter::See(std::uint32_t iteration, Time now) {
  if (from == kNever) {
    first = iteration;
    from = now;
  }
  last = iteration;
  to = now;
}

void Guard::Reset() {
  Guard anew;
  anew.exclusive_ = exclusive_;
  anew.alone_ = alone_;
  anew.alone_at_ = alone_at_;
  *this = anew;
}

Guard::Plan Guard::Advance(std::span<const Job> jobs, Time now) {
  Watch(jobs, now);
  const std::uint32_t before = iteration_;
  iteration_ = jobs[0].iteration;
  switch (step_) {
    case Step::kSettled:
      if (settled_ != Way::kExclusive && Measured(jobs)) Rate(jobs);
      if (iteration_ != before) {
        const bool trial = TrialIsDue(jobs.size(), before);
        looking_ = !trial && LookIsDue(jobs, before);
        if (trial || looking_) Begin(exclusive_ ? Step::kAlone : TheOther(), jobs);
      }
      break;
    case Step::kAlone:
      AdvanceAlone(jobs, now);
      break;
    case Step::kTurns:
    case Step::kSideBySide:
      if (Measured(jobs)) EndTrial(jobs, now);
      break;
  }
  return ThePlan(jobs);
}

void Guard::Watch(std::span<const Job> jobs, Time now) {
  for (const Job& job : jobs) {
    const bool changed = known_ && seen_[job.slot] != job.iteration;
    seen_[job.slot] = job.iteration;
    // Jobs that run alone are measured in AdvanceAlone() instead.
    if (changed && metering_ && step_ != Step::kAlone && Reached(jobs[0].iteration, measure_from_))
      meter_[job.slot].See(job.iteration, now);
  }
  if (!known_) iteration_ = jobs[0].iteration;
  known_ = true;
  if (unit_ == 0) LearnUnit(jobs);
}

// Measures the unit, as soon as all jobs can be rated at all.
void Guard::LearnUnit(std::span<const Job> jobs) {
  if (!metering_) {
    for (const Job& job : jobs) {
      if (job.alone == kNever) return;
    }
    metering_ = true;
    Measure(0, jobs);
    measure_from_ = (jobs[0].iteration / kLeastIterations + 2) * kLeastIterations;
  }
  if (!Reached(jobs[0].iteration, measure_from_ + kLearned)) return;
  Time longest = 0;
  for (const Job& job : jobs) {
    shared_[job.slot] = meter_[job.slot].step();
    longest = std::max(longest, shared_[job.slot]);
  }
  if (longest == kNever) return;  // the longest job has not ended an iteration yet
  const Time first = shared_[jobs[0].slot];
  unit_ = IterationsFor(std::max(kLeastUnit, kLeastOfLongest * longest), first, kLeastIterations);
  vague_ = first < kUnsure;
  Measure(kDisturbed, jobs);
}

std::uint32_t Guard::SoloOf(SlotIndex slot) const {
  if (shared_[slot] > kMostSolo / kLeastIterations) return 0;
  return IterationsFor(kLeastUnit, shared_[slot], kLeastIterations);
}

std::uint32_t Guard::Spacing(std::size_t jobs) const {
  if (spacing_ != 0) return spacing_;
  return rate(settled_) < kLittle || vague_ ? kDense : SparseFor(jobs);
}

// Returns whether the settled way has been measured for long enough to compare it with another.
bool Guard::CanBegin() const {
  if (unit_ == 0) return false;
  return settled_ == Way::kExclusive || (rate(settled_) != 0 && Reached(iteration_, rated_ + unit_));
}

// Returns whether the first job has passed a multiple of the spacing since the previous call.
bool Guard::TrialIsDue(std::size_t jobs, std::uint32_t before) const {
  if (!CanBegin()) return false;
  const std::uint32_t grid = unit_ * Spacing(jobs);
  return iteration_ / grid != before / grid;
}

bool Guard::LookIsDue(std::span<const Job> jobs, std::uint32_t before) const {
  if (!CanBegin() || !exclusive_ || iteration_ / (unit_ * kLook) == before / (unit_ * kLook)) return false;
  return std::any_of(jobs.begin(), jobs.end(),
                     [this](const Job& job) { return alone_[job.slot] == 0 && SoloOf(job.slot) != 0; });
}

void Guard::Begin(Step step, std::span<const Job> jobs) {
  step_ = step;
  Measure(kDisturbed, jobs);
  for (const Job& job : jobs) base_[job.slot] = job.iteration;
}

Guard::Step Guard::TheOther() const { return settled_ == Way::kTurns ? Step::kSideBySide : Step::kTurns; }

// Restarts the meters, which run from `skip` half units after now.
void Guard::Measure(std::uint32_t skip, std::span<const Job> jobs) {
  measure_from_ = jobs[0].iteration + skip * unit_ / 2;
  for (Meter& meter : meter_) meter = Meter();
}

bool Guard::Measured(std::span<const Job> jobs) const {
  const std::uint32_t halves = exclusive_ || promised_ != 0 ? kMeasured : kMeasuredLong;
  return unit_ != 0 && Reached(jobs[0].iteration, measure_from_ + halves * unit_ / 2);
}

// Lets each job run alone in turn and measures it. The first half of its slice does not count, because the
// job before disturbs it. Iterations beyond the slice do not count either, because the host runs ahead into
// the slice of the next job.
void Guard::AdvanceAlone(std::span<const Job> jobs, Time now) {
  for (const Job& job : jobs) {
    const std::uint32_t slice = SoloOf(job.slot);
    const std::uint32_t done = job.iteration - base_[job.slot];
    Meter& meter = meter_[job.slot];
    if (done < slice / 2) meter = Meter();
    if (done >= slice / 2 && done <= slice && meter.last != job.iteration) meter.See(job.iteration, now);
    if (done < slice) return;
  }
  for (const Job& job : jobs) {
    const Time step = meter_[job.slot].step();
    if (step == kNever) continue;
    alone_[job.slot] = step;
    alone_at_[job.slot] = now;
  }
  if (settled_ != Way::kExclusive) rate_[static_cast<int>(settled_)] = RateOf(jobs, settled_step_);
  Begin(std::exchange(looking_, false) ? Step::kSettled : TheOther(), jobs);
}

void Guard::Rate(std::span<const Job> jobs) {
  if (rate(settled_) == 0) rated_ = iteration_;
  for (const Job& job : jobs) settled_step_[job.slot] = meter_[job.slot].step();
  const double rate = Metered(jobs);
  rate_[static_cast<int>(settled_)] = rate;
  const bool others_differ = rate > 0 && rate < kStillTheSame * promised_;
  if (promised_ != 0 && !others_differ) differed_ = false;
  promised_ = 0;
  if (others_differ && !exclusive_) return StartAgain(jobs);
  Measure(0, jobs);
}

// Starts again from the state in which all GPUs began, and forgets what was measured while they differed.
void Guard::StartAgain(std::span<const Job> jobs) {
  settled_ = Way::kSideBySide;
  spacing_ = differed_ ? SparseFor(jobs.size()) : kAgain;
  differed_ = true;
  for (double& known : rate_) known = 0;
  unit_ = 0;
  metering_ = false;
  Begin(Step::kSettled, jobs);
}

void Guard::EndTrial(std::span<const Job> jobs, Time now) {
  const Way way = step_ == Step::kTurns ? Way::kTurns : Way::kSideBySide;
  rate_[static_cast<int>(way)] = Metered(jobs);
  if (way == Way::kTurns && settled_ == Way::kExclusive) return Begin(Step::kSideBySide, jobs);
  Settle(jobs, now);
}

void Guard::Settle(std::span<const Job> jobs, Time now) {
  rate_[static_cast<int>(Way::kExclusive)] = exclusive_ ? 1 : 0;
  const Way before = settled_;
  const std::uint32_t spacing = Spacing(jobs.size());
  for (const Way way : {Way::kTurns, Way::kSideBySide, Way::kExclusive}) {
    if (rate(way) > kBetter * rate(settled_)) settled_ = way;
  }
  if (!exclusive_ && rate(Way::kTurns) < kWorthTurns * rate(Way::kSideBySide)) settled_ = Way::kSideBySide;
  promised_ = rate(settled_);
  tried_at_ = now;
  spacing_ = settled_ != before || spacing == kDense ? kAgain : SparseFor(jobs.size());
  Begin(Step::kSettled, jobs);
}

Time Guard::AloneOf(const Job& job) const { return alone_[job.slot] > 0 ? alone_[job.slot] : job.alone; }

double Guard::Metered(std::span<const Job> jobs) const {
  Time steps[kMaxSlots] = {};
  for (const Job& job : jobs) steps[job.slot] = meter_[job.slot].step();
  return RateOf(jobs, steps);
}

double Guard::RateOf(std::span<const Job> jobs, const Time (&steps)[kMaxSlots]) const {
  double rate = 0;
  for (const Job& job : jobs) {
    const Time step = steps[job.slot];
    if (step == kNever || step <= 0 || AloneOf(job) == kNever) return 0;
    rate += static_cast<double>(AloneOf(job)) / static_cast<double>(step);
  }
  return rate;
}

// Returns the job that has had the fewest slices since the start of the step. GPUs that see the same
// iterations choose the same job, whatever they saw before.
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

Guard::Plan Guard::ThePlan(std::span<const Job> jobs) const {
  const Way way = step_ == Step::kAlone        ? Way::kExclusive
                  : step_ == Step::kTurns      ? Way::kTurns
                  : step_ == Step::kSideBySide ? Way::kSideBySide
                                               : settled_;
  return {way, way == Way::kExclusive ? OwnerOf(jobs) : kNobody};
}

}  // namespace crossover::turn
