#include "benchmarks/placement/simulate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace crossover::benchmarks {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Simulation {
 public:
  Simulation(const std::vector<Job>& jobs, Policy& policy) : jobs_(jobs), policy_(policy) {}

  Outcome Play() {
    while (next_ < jobs_.size() || !live_.empty()) {
      const double end_s = NextEnd();
      const double arrival_s = next_ < jobs_.size() ? jobs_[next_].submit_s : kNever;
      if (end_s == kNever && arrival_s == kNever) {
        throw std::runtime_error("job " + std::to_string(live_.front().job->id) + " can never run");
      }
      Advance(std::min(end_s, arrival_s));
      // As Muri's simulator has it: who was to end now ends, whatever restarts took meanwhile.
      if (end_s <= arrival_s) End(end_s);
      for (; next_ < jobs_.size() && jobs_[next_].submit_s <= now_s_; ++next_) {
        live_.push_back({&jobs_[next_], jobs_[next_].iterations, false});
      }
      Decide();
    }
    return std::move(outcome_);
  }

 private:
  double EndOf(const Run& run) const {
    const auto live = std::ranges::find(live_, run.job, &Live::job);
    return now_s_ + live->left * run.iteration_s;
  }
  double NextEnd() const {
    double next = kNever;
    for (const Run& run : runs_) next = std::min(next, ends_.at(run.job));
    return next;
  }
  void Advance(double to_s) {
    for (const Run& run : runs_) {
      const auto live = std::ranges::find(live_, run.job, &Live::job);
      live->left -= std::max(0.0, to_s - now_s_ - run.lost_s) / run.iteration_s;
    }
    now_s_ = to_s;
  }
  void End(double end_s) {
    std::erase_if(live_, [&](const Live& live) {
      const auto end = ends_.find(live.job);
      if (!live.running || end == ends_.end() || end->second > end_s + 1e-4) return false;
      outcome_.jobs.push_back({live.job, end_s});
      return true;
    });
  }
  void Decide() {
    runs_ = policy_.Decide(live_, now_s_);
    ends_.clear();
    for (Live& live : live_) live.running = false;
    for (const Run& run : runs_) {
      std::ranges::find(live_, run.job, &Live::job)->running = true;
      ends_[run.job] = EndOf(run);
    }
  }

  const std::vector<Job>& jobs_;
  Policy& policy_;
  std::vector<Live> live_;
  std::vector<Run> runs_;
  std::map<const Job*, double> ends_;
  std::size_t next_ = 0;
  double now_s_ = 0;
  Outcome outcome_;
};

}  // namespace

double Outcome::mean_completion_s() const {
  double sum = 0;
  for (const Ended& ended : jobs) sum += ended.end_s - ended.job->submit_s;
  return sum / static_cast<double>(jobs.size());
}

double Outcome::makespan_s() const {
  double last = 0;
  for (const Ended& ended : jobs) last = std::max(last, ended.end_s);
  return last;
}

double Outcome::mean_slowdown() const {
  double sum = 0;
  for (const Ended& ended : jobs) sum += (ended.end_s - ended.job->submit_s) / ended.job->length_s();
  return sum / static_cast<double>(jobs.size());
}

Outcome Simulate(const std::vector<Job>& jobs, Policy& policy) { return Simulation(jobs, policy).Play(); }

}  // namespace crossover::benchmarks
