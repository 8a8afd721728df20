// Measures how long one job's iterations take, and how sure that is, by watching the job's iteration number.
//
// Pure: the caller passes the time. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/timing_model.h"

namespace crossover::turn {

class StepMeter {
 public:
  // Notes that the iteration number has changed to `iteration`. The first call only marks where to count
  // from. If the number has grown by more than one since the last call, the time is divided evenly.
  void See(std::uint32_t iteration, Time now);
  // Does what See() does if the number has changed, and nothing if it has not.
  void SeeOnce(std::uint32_t iteration, Time now) {
    if (at_ == kNever || iteration != last_) See(iteration, now);
  }
  // Adds `iterations` iterations that took `each` on average, with a standard deviation of `spread` times
  // `each`.
  void SeeMany(double iterations, Time each, double spread);
  // Adds the iterations that another meter has measured.
  void Add(const StepMeter& other);
  // Gives later iterations more weight: all iterations so far count as `most` iterations at most.
  void Fade(double most);

  double iterations() const { return iterations_; }
  // Returns the mean time of an iteration; kNever while none has been measured.
  Time step() const { return iterations_ > 0 ? static_cast<Time>(mean_) : kNever; }
  // Returns the standard error of step() as a fraction of it, at most 1; 1 while fewer than two iterations
  // have been measured.
  double error() const;

 private:
  void AddMany(double iterations, double mean, double squares, double products);

  std::uint32_t last_ = 0;
  Time at_ = kNever;  // when the number became `last_`
  double iterations_ = 0;
  double mean_ = 0;
  double squares_ = 0;   // sum of the squared distances from the mean, ns^2
  double products_ = 0;  // sum of the products of successive distances from the mean, ns^2
  double before_ = 0;    // time of the iteration that was measured last, ns; 0: none
};

}  // namespace crossover::turn
