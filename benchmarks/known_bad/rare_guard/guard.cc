#include "turn/guard.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace crossover::turn {
namespace {

// All lengths are in units of so many iterations of the first job: 8, or 16, 32, ... as it takes to last for
// kLeastUnit and for 6 of the longest job, so that a look now and then is sharp enough. How long they are is
// measured over kLearned of them, in the same iterations on all GPUs; a power of two, so that what they
// measure differently seldom makes it another.
constexpr std::uint32_t kLeastIterations = 8;
constexpr std::uint32_t kMostIterations = 1024;
constexpr std::uint32_t kLearned = 16;
constexpr Time kLeastUnit = 100'000'000;
constexpr Time kLeastOfLongest = 6;  // equal jobs are far from where it would matter
// In halves of a unit: what a change of ways disturbs, and what is measured behind it.
constexpr std::uint32_t kDisturbed = 1;
constexpr std::uint32_t kMeasured = 3;
constexpr std::uint32_t kMeasuredLong = 10;
// Each job is alone in a trial for as many iterations as last kLeastUnit when shared, so no longer than a
// unit. Not at all where the others would wait too long; what is estimated of so long a job is sharp enough.
constexpr Time kMostSolo = 800'000'000;
// A trial begins where the first job's iteration passes a multiple of so many units: sparse enough for nobody
// to be alone for more than 0.5% of the time. Soon, where turns gain so little that there is little to lose.
// The outcome of that one, and what any trial has changed, is looked at again: it may have met a bad moment.
constexpr std::uint32_t kSparseEach = 256;  // for each job
constexpr std::uint32_t kDense = 4;
constexpr std::uint32_t kAgain = 16;
// What jobs take alone is looked at where such a multiple is passed, and it is not known of all of them yet.
constexpr std::uint32_t kLook = 64;
constexpr double kLittle = 1.1;
constexpr Time kUnsure = 12'000'000;  // shared iterations shorter than this are known too vaguely to tell
constexpr Time kSlice = 250'000'000;
// By less, nothing is changed; more, and jobs might be slower by 1% than one after the other, for what is
// measured of a way behind a change is a little less than it gives in the long run.
constexpr double kBetter = 1.0075;
constexpr double kWorthTurns = 1.01;
// Where the settled way gives less than this of what its trial gave, other GPUs have settled for another.
constexpr double kStillTheSame = 0.95;

// The least power of two, from `least` on, of iterations of this length that last for `wanted`.
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
    // Each of those that are alone has a time of its own (AdvanceAlone).
    if (changed && metering_ && step_ != Step::kAlone && Reached(jobs[0].iteration, measure_from_))
      meter_[job.slot].See(job.iteration, now);
  }
  if (!known_) iteration_ = jobs[0].iteration;
  known_ = true;
  if (unit_ == 0) LearnUnit(jobs);
}

// Once all jobs can be rated at all.
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
  if (longest == kNever) return;  // none of the longest job has ended yet
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

// Whether the settled way is known for as long as it takes to compare it.
bool Guard::CanBegin() const {
  if (unit_ == 0) return false;
  return settled_ == Way::kExclusive || (rate(settled_) != 0 && Reached(iteration_, rated_ + unit_));
}

// Whether a multiple lies between the iteration seen before and the present one.
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

// From `skip` half units on.
void Guard::Measure(std::uint32_t skip, std::span<const Job> jobs) {
  measure_from_ = jobs[0].iteration + skip * unit_ / 2;
  for (Meter& meter : meter_) meter = Meter();
}

bool Guard::Measured(std::span<const Job> jobs) const {
  const std::uint32_t halves = exclusive_ || promised_ != 0 ? kMeasured : kMeasuredLong;
  return unit_ != 0 && Reached(jobs[0].iteration, measure_from_ + halves * unit_ / 2);
}

// Each job in its turn; the first half of its slice, which the one before disturbs, is not counted, and
// neither is what its host, which runs ahead, counts in the next one's.
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

// From where all GPUs began, with nothing known of what was measured while they differed.
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

// Whoever has had the fewest slices, counted from where all began: GPUs that see the same iterations name the
// same one, whatever they saw before.
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
