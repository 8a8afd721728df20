// How long one job's iterations take, and how sure that is, from watching its iteration number.
//
// Pure: time comes in. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/rhythm.h"

namespace crossover::turn {

class StepMeter {
 public:
  // Call it whenever the number has changed. The first call only marks where to count from.
  void See(std::uint32_t iteration, Time now);
  // The same, for callers that do not know whether it has changed.
  void SeeOnce(std::uint32_t iteration, Time now) {
    if (at_ == kNever || iteration != last_) See(iteration, now);
  }
  // Adds so many iterations that took `each` on average, and are known to spread by this part of it.
  void SeeMany(double iterations, Time each, double spread);
  // Adds what another one has measured.
  void Add(const StepMeter& other);
  // Lets what is measured from now on count for more: what is known counts as so many iterations at most.
  void Fade(double most);

  double iterations() const { return iterations_; }
  // Mean of an iteration; kNever while none has been measured.
  Time step() const { return iterations_ > 0 ? static_cast<Time>(mean_) : kNever; }
  // The standard error of that mean, relative to it; 1 while fewer than two have been measured.
  double error() const;

 private:
  void AddMany(double iterations, double mean, double squares, double products);

  std::uint32_t last_ = 0;
  Time at_ = kNever;  // when the number became `last_`
  double iterations_ = 0;
  double mean_ = 0;
  double squares_ = 0;   // sum of squared distances from the mean
  double products_ = 0;  // sum of the products of neighbours' distances
  double before_ = 0;    // the iteration before the last one; 0: none
};

}  // namespace crossover::turn
