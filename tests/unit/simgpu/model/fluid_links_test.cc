// Compares several training jobs that run freely on one GPU and one link with closed forms. Each job
// computes for c on the GPU, then communicates for m on the link, again and again. The figure gain_over_mps
// is compared with these forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "simgpu/model/fluid.h"

namespace simgpu {
namespace {

constexpr Nanos kMs = 1'000'000;
constexpr double kSms = 132;
constexpr double kBytesPerS = 8e6;

// The ranks of a Job compute on GPUs of their own, all at once. The slowest rank lets the job go on to the
// link.
struct Job {
  std::vector<int> on_gpu = {};  // its tenant of each GPU
  int on_link = -1;
  std::vector<double> computed = {};  // if each has done its compute
  double moved = 0;
  bool computing = false;
  Nanos starts_at = 0;
  std::vector<Nanos> starts = {};
};

// A Cluster has jobs of `ranks` ranks each, on `ranks` GPUs that they share. The jobs share one link, or
// have one each.
class Cluster {
 public:
  Cluster(int jobs, int ranks, bool shared_link, double c, double m, double jitter = 0)
      : c_(c), m_(m), normal_(1, jitter), jobs_(static_cast<std::size_t>(jobs)) {
    for (int i = 0; i < ranks; ++i) gpus_.push_back(MakeFluid(kSms));
    for (int i = 0; i < (shared_link ? 1 : jobs); ++i) links_.push_back(MakeFluid(kBytesPerS));
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const auto group = static_cast<std::uint32_t>(i + 1);
      for (const auto& gpu : gpus_) jobs_[i].on_gpu.push_back(gpu->Add(group));
      jobs_[i].computed.resize(gpus_.size());
      jobs_[i].on_link = LinkOf(i).Add(group);
    }
  }

  // Starts job i at i times `offset`, and runs until `until`. Returns the mean step of the first job,
  // without its first `skip`.
  double MeanStep(Nanos offset, std::size_t skip, Nanos until) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].starts_at = static_cast<Nanos>(i) * offset;
    while (Now() < until) {
      Nanos next = until;
      for (std::size_t i = 0; i < jobs_.size(); ++i) next = std::min(next, NextChange(i));
      for (const auto& fluid : gpus_) fluid->Advance(next);
      for (const auto& fluid : links_) fluid->Advance(next);
      for (std::size_t i = 0; i < jobs_.size(); ++i) Change(i);
    }
    const std::vector<Nanos>& starts = jobs_[0].starts;
    return static_cast<double>(starts.back() - starts[skip]) / static_cast<double>(starts.size() - 1 - skip);
  }

 private:
  static std::unique_ptr<Fluid> MakeFluid(double capacity) {
    auto fluid = std::make_unique<Fluid>();
    fluid->Reset({.capacity = capacity}, 0);
    return fluid;
  }
  Nanos Now() const { return gpus_[0]->now(); }
  Fluid& LinkOf(std::size_t job) { return *links_[links_.size() == 1 ? 0 : job]; }

  Nanos NextChange(std::size_t i) {
    const Job& job = jobs_[i];
    if (job.starts.empty()) return job.starts_at;
    if (!job.computing) return LinkOf(i).FinishTime(job.on_link, job.moved);
    Nanos last = 0;
    for (std::size_t r = 0; r < gpus_.size(); ++r) {
      last = std::max(last, gpus_[r]->FinishTime(job.on_gpu[r], job.computed[r]));
    }
    return last;
  }

  void Change(std::size_t i) {
    Job& job = jobs_[i];
    if (NextChange(i) > Now()) return;
    if (job.computing) {
      job.computing = false;
      job.moved = LinkOf(i).Extend(job.on_link, kBytesPerS, kBytesPerS * 1e-9, m_ * kBytesPerS * 1e-9);
      return;
    }
    job.computing = true;
    job.starts.push_back(Now());
    for (std::size_t r = 0; r < gpus_.size(); ++r) {
      job.computed[r] = gpus_[r]->Extend(job.on_gpu[r], kSms, 1.0, c_ * std::max(0.1, normal_(draw_)));
    }
  }

  double c_, m_;
  std::mt19937 draw_{11};
  std::normal_distribution<double> normal_;
  std::vector<std::unique_ptr<Fluid>> gpus_, links_;
  std::vector<Job> jobs_;
};

constexpr double kC = 20.0 * kMs;

// In step all n jobs compute for n c, then all communicate for n m: this is as long as one after the other.
// An offset of delta, which is at most c and m, saves 2 delta, and keeps itself.
TEST(FluidLinksTest, AFreePairOnASharedLink) {
  for (const double m : {6.0 * kMs, 12.0 * kMs, 20.0 * kMs}) {
    for (const Nanos delta : {Nanos{0}, 2 * kMs, 6 * kMs}) {
      Cluster cluster(2, 1, true, kC, m);
      EXPECT_NEAR(cluster.MeanStep(delta, 2, 4000 * kMs), 2 * kC + 2 * m - 2.0 * static_cast<double>(delta),
                  20)
          << m << " offset " << delta;
    }
  }
}

TEST(FluidLinksTest, AFreePairWithLinksOfItsOwn) {
  Cluster cluster(2, 1, false, kC, 12.0 * kMs);
  EXPECT_NEAR(cluster.MeanStep(7 * kMs, 2, 4000 * kMs), 2 * kC + 5.0 * kMs, 20);
}

TEST(FluidLinksTest, ThreeAndFourJobsInStep) {
  for (const int jobs : {3, 4}) {
    Cluster shared(jobs, 1, true, kC, 12.0 * kMs), own(jobs, 1, false, kC, 12.0 * kMs);
    EXPECT_NEAR(shared.MeanStep(0, 1, 6000 * kMs), jobs * (kC + 12.0 * kMs), 20);
    EXPECT_NEAR(own.MeanStep(0, 1, 6000 * kMs), jobs * kC + 12.0 * kMs, 20);
  }
}

// A link serves no more than it can, whichever job comes first. No order of n jobs is faster than the link
// moves their bytes.
TEST(FluidLinksTest, NoOrderBeatsTheLink) {
  for (const int jobs : {2, 3, 4}) {
    for (const Nanos offset : {kMs, 7 * kMs, 21 * kMs, 40 * kMs}) {
      Cluster cluster(jobs, 1, true, kC, 40.0 * kMs);
      EXPECT_GE(cluster.MeanStep(offset, 20, 20'000 * kMs), jobs * 40.0 * kMs * 0.9999)
          << jobs << " " << offset;
    }
  }
}

// The mean of the largest of n draws of a normal distribution lies e_n standard deviations above its mean.
TEST(FluidLinksTest, AJobWaitsForItsSlowestRank) {
  constexpr double kJitter = 0.05;
  const std::pair<int, double> cases[] = {{1, 0}, {2, 0.56419}, {4, 1.02938}, {8, 1.42360}};
  for (const auto& [ranks, e] : cases) {
    Cluster cluster(1, ranks, true, kC, 12.0 * kMs, kJitter);
    const double expected = kC * (1 + kJitter * e) + 12.0 * kMs;
    // There are 9,000 steps or more: the mean's own deviation is below 0.011 ms.
    EXPECT_NEAR(cluster.MeanStep(0, 0, 300'000 * kMs), expected, 0.05 * kMs) << ranks;
  }
}

}  // namespace
}  // namespace simgpu
