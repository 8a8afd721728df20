#include "benchmarks/placement/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace crossover::benchmarks {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Holds what only the simulation knows of a live job.
struct Progress {
  double start_s = -1;  // when it first started; negative: not yet
  double kept = 0;      // iterations left at its last checkpoint
  double unkept_s = 0;  // running time since then
  int restarts = 0;
};

// Compares all but when they begin. Sums of thirds of a GPU are not exact.
bool Same(const Moment& a, const Moment& b) {
  return std::abs(a.held_gpus - b.held_gpus) < 1e-6 && a.there_gpus == b.there_gpus &&
         a.running == b.running && a.waiting == b.waiting;
}

class Simulation {
 public:
  Simulation(const std::vector<Job>& jobs, Policy& policy, const Cluster& cluster, const Failing& failing)
      : jobs_(jobs),
        policy_(policy),
        cluster_(cluster),
        checkpoint_s_(failing.checkpoint_s),
        failures_(cluster.nodes, failing) {}

  Outcome Play() {
    while (next_ < jobs_.size() || !live_.empty()) {
      const double end_s = NextEnd();
      const double arrival_s = next_ < jobs_.size() ? jobs_[next_].submit_s : kNever;
      const double change_s = failures_.next_s();
      const bool whole = std::ranges::count(failures_.up(), false) == 0;
      if (end_s == kNever && arrival_s == kNever && (change_s == kNever || whole)) {
        throw std::runtime_error("job " + std::to_string(live_.front().job->id) + " can never run");
      }
      Advance(std::min({end_s, arrival_s, change_s}));
      // A job that was to end now ends, whatever restarts took meanwhile. Muri's simulator does so, too.
      if (end_s <= std::min(arrival_s, change_s)) End(end_s);
      if (change_s <= now_s_) Stop(failures_.Pass());
      for (; next_ < jobs_.size() && jobs_[next_].submit_s <= now_s_; ++next_) Arrive(jobs_[next_]);
      Decide();
    }
    return std::move(outcome_);
  }

 private:
  Live& LiveOf(const Job* job) { return *std::ranges::find(live_, job, &Live::job); }

  void Arrive(const Job& job) {
    live_.push_back({&job, job.iterations, false});
    progress_[&job].kept = job.iterations;
  }
  double NextEnd() const {
    double next = kNever;
    for (const Run& run : runs_) next = std::min(next, ends_.at(run.job));
    return next;
  }
  void Advance(double to_s) {
    const double took_s = to_s - now_s_;
    for (const Run& run : runs_) {
      Live& live = LiveOf(run.job);
      const double ran_s = std::max(0.0, took_s - run.lost_s);
      live.left -= ran_s / run.iteration_s;
      live.had_s += took_s;
      Progress& progress = progress_[run.job];
      progress.unkept_s += ran_s;
      if (progress.unkept_s >= checkpoint_s_) {
        progress.unkept_s = std::fmod(progress.unkept_s, checkpoint_s_);
        progress.kept = live.left + progress.unkept_s / run.iteration_s;
      }
      outcome_.held_gpu_s += took_s * run.job->gpus / run.together;
    }
    const auto up = std::ranges::count(failures_.up(), true);
    outcome_.there_gpu_s += took_s * static_cast<double>(up) * cluster_.gpus_per_node;
    now_s_ = to_s;
  }
  void End(double end_s) {
    std::erase_if(live_, [&](const Live& live) {
      const auto end = ends_.find(live.job);
      if (!live.running || end == ends_.end() || end->second > end_s + 1e-4) return false;
      const Progress& progress = progress_[live.job];
      outcome_.jobs.push_back({live.job, end_s, progress.start_s, progress.restarts});
      progress_.erase(live.job);
      return true;
    });
  }
  // Stops the jobs that run on a node, if the node has failed.
  void Stop(int node) {
    if (failures_.up()[static_cast<std::size_t>(node)]) return;
    for (const Run& run : runs_) {
      const auto live = std::ranges::find(live_, run.job, &Live::job);
      if (live == live_.end() || std::ranges::count(run.nodes, node) == 0) continue;
      Progress& progress = progress_[run.job];
      live->running = false;
      live->left = progress.kept;
      progress.unkept_s = 0;
      ++progress.restarts;
    }
  }
  void Decide() {
    runs_ = policy_.Decide({live_, failures_.up(), now_s_});
    ends_.clear();
    for (Live& live : live_) live.running = false;
    for (const Run& run : runs_) {
      Live& live = LiveOf(run.job);
      live.running = true;
      ends_[run.job] = now_s_ + live.left * run.iteration_s;
      double& start_s = progress_[run.job].start_s;
      if (start_s < 0) start_s = now_s_;
    }
    Note();
  }
  void Note() {
    Moment moment{.from_s = now_s_, .running = static_cast<int>(runs_.size())};
    for (const Run& run : runs_) moment.held_gpus += static_cast<double>(run.job->gpus) / run.together;
    moment.there_gpus = static_cast<int>(std::ranges::count(failures_.up(), true)) * cluster_.gpus_per_node;
    moment.waiting = static_cast<int>(live_.size()) - moment.running;
    std::vector<Moment>& moments = outcome_.moments;
    if (moments.empty() || !Same(moments.back(), moment)) moments.push_back(moment);
  }

  const std::vector<Job>& jobs_;
  Policy& policy_;
  Cluster cluster_;
  double checkpoint_s_;
  Failures failures_;
  std::vector<Live> live_;
  std::map<const Job*, Progress> progress_;
  std::vector<Run> runs_;
  std::map<const Job*, double> ends_;
  std::size_t next_ = 0;
  double now_s_ = 0;
  Outcome outcome_;
};

}  // namespace

double Outcome::Mean(const std::function<double(const Ended&)>& of) const {
  double sum = 0;
  for (const Ended& ended : jobs) sum += of(ended);
  return sum / static_cast<double>(jobs.size());
}

double Outcome::Quantile(double part, const std::function<double(const Ended&)>& of) const {
  std::vector<double> values;
  for (const Ended& ended : jobs) values.push_back(of(ended));
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double place = std::ceil(part * static_cast<double>(values.size())) - 1;
  return values[static_cast<std::size_t>(std::max(0.0, place))];
}

double Outcome::makespan_s() const {
  double last = 0;
  for (const Ended& ended : jobs) last = std::max(last, ended.end_s);
  return last;
}

int Outcome::restarts() const {
  int count = 0;
  for (const Ended& ended : jobs) count += ended.restarts;
  return count;
}

Outcome Simulate(const std::vector<Job>& jobs, Policy& policy, const Cluster& cluster,
                 const Failing& failing) {
  return Simulation(jobs, policy, cluster, failing).Play();
}

}  // namespace crossover::benchmarks
