// Measures for the guard: iterations in the ways and alone, and whether they have changed since the choice.
#include <algorithm>
#include <cmath>

#include "turn/guard.h"
#include "turn/guard_lengths.h"

namespace crossover::turn {

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

// Returns whether the jobs have changed since the choice, for turns in slices. The first slices after a
// change of ways are shorter than others, so the steps of single jobs say nothing there. What the jobs take
// alone does, and what they do together.
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

void Guard::Count(Time now) {
  if (entered_ == kNever || !trying()) return;
  spent_[Index(WayNow())] += now - entered_;
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

}  // namespace crossover::turn
