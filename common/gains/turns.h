// Predicts at which part of its own speed each of several jobs runs that take turns on the same GPUs.
//
// A job that runs at the part r of its own speed takes r u_gpu of a GPU's time, r u_link of the link of its
// node, and r u_host of the CPUs of its node. The fluid bound of the rates is where one of these is used up:
//
//   sum (r u) <= top, for each of gpu, link, host          r <= top
//
// All jobs get the same rate, the largest that fits. A job with a floor gets at least its floor, and the
// others share what is left. For jobs whose iterations are equally long these are the rates of the lock-step
// cycle, max(sum c, max (c + m), sum l, sum h). `top` is the part of the bound that turns reach. Pure.
#pragma once

#include <span>
#include <vector>

namespace crossover::gains {

// Turns reach this part of the bound, unless an administrator says otherwise (placement.efficiency).
inline constexpr double kReached = 0.95;
// Turns usually reach this part: the median of all cases of `eta` (docs/performance.md). The extender
// promises less (kReached), since a pair that gains less than promised is a loss. Advice says what is likely.
inline constexpr double kUsuallyReached = 0.98;
// Jobs share if they gain at least this factor over one after the other, unless an administrator says
// otherwise (placement.min_gain).
inline constexpr double kWorthSharing = 1.05;
// At most this part of a GPU's time is promised to jobs with floors. The rest is a reserve for disturbances.
inline constexpr double kPromised = 0.95;

// A Use says what part of its time alone a job keeps each of three things busy, from 0 to 1 (1.0 means that
// it has no time to spare there).
struct Use {
  double gpu = 0;
  double link = 0;   // 0 if jobs share no link, or if it is not known
  double host = 0;   // 0 if each job has CPUs of its own
  double floor = 0;  // the part of its own speed below which it must not fall; 0: none
};

// Returns the speed of the link of a job whose nodes are not known yet: the median of the speeds `links` that
// nodes tell, the lower one in the middle of an even number, or 0 if there is none. One node that tells a
// wrong speed changes little.
double UsualLink(std::vector<double> links);

// FairRates finds the rates. It keeps the span, so the uses must outlive it. It allocates nothing.
class FairRates {
 public:
  // REQUIRES: 0 < top <= 1.
  FairRates(std::span<const Use> uses, double top);

  // Returns the rate of a job: 1 is its own speed. `use` is one of the span.
  double Of(const Use& use) const { return At(use, level_); }
  // Returns the sum of the rates: how much more the jobs do than one after the other.
  double Sum() const;
  // Returns whether all floors can be kept, with the reserve of kPromised.
  bool FloorsKept() const;

 private:
  double At(const Use& use, double level) const;
  bool Fits(double level) const;
  double Level() const;

  std::span<const Use> uses_;
  double top_;
  double level_ = 0;
};

}  // namespace crossover::gains
