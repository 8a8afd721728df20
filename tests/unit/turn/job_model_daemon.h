// Stands for the daemon of a node in the job model: the ClientStats that ship hear what the arbiters of the
// node's GPUs see.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "deviceplugin/arbiter/iteration_counter.h"
#include "deviceplugin/stats/client_stats.h"
#include "tests/unit/turn/job_model.h"

namespace crossover::turn::test {

class JobModelDaemon : public JobModelObserver {
 public:
  // Watches the first `gpus_here` GPUs. The other ranks are on other nodes.
  JobModelDaemon(std::size_t jobs, int gpus, int gpus_here);

  void OnTurn(int gpu, const Event& event) override;
  void OnPoll(int gpu, SlotIndex job, std::uint32_t iterations, const Policy& policy, Time now) override;
  void OnMeasure(int gpu, SlotIndex job, Time alone, std::uint32_t over, Time now) override;

  // A Gain is what the daemon reports of its first GPU at one instant.
  struct Gain {
    Time at = 0;
    double gain = 0;
    double error = 0;
    bool uncertain = false;
  };
  // The daemon looks at the gain every kEach (ns). It keeps nothing while the gain is unknown.
  static constexpr Time kEach = 10'000'000'000;
  const std::vector<Gain>& gains() const { return gains_; }
  // Returns the control, one number for each of gains(): the gain that the turns of a single GPU alone would
  // give, or the few iterations of the last look if there was one.
  const std::vector<double>& gains_of_one_gpu() const { return of_one_gpu_; }

 private:
  bool IsHere(int gpu) const { return static_cast<std::size_t>(gpu) < members_.size(); }
  void Look(Time now);
  std::optional<double> GainOfOneGpu(const deviceplugin::GpuView& view) const;

  deviceplugin::ClientStats client_stats_;
  std::vector<std::vector<std::shared_ptr<const arbiter::Member>>> members_;  // [gpu][job]
  std::vector<std::array<arbiter::IterationCounter, kMaxSlots>> steps_;
  std::array<Time, kMaxSlots> rhythm_alone_ = {};  // of the first GPU
  std::array<Time, kMaxSlots> last_look_ = {};
  std::vector<Gain> gains_;
  std::vector<double> of_one_gpu_;
  Time next_ = kEach;
};

}  // namespace crossover::turn::test
