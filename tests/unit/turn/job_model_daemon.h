// The daemon of a node in the job model: the shipped books, told of what the arbiters of its GPUs see.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "deviceplugin/arbiter/steps.h"
#include "deviceplugin/books/ledger.h"
#include "tests/unit/turn/job_model.h"

namespace crossover::turn::test {

class JobModelDaemon : public JobModelObserver {
 public:
  // Of the first `gpus_here` GPUs; the other ranks are on other nodes.
  JobModelDaemon(std::size_t jobs, int gpus, int gpus_here);

  void OnTurn(int gpu, const Event& event) override;
  void OnPoll(int gpu, SlotIndex job, std::uint32_t iterations, const Policy& policy, Time now) override;
  void OnMeasure(int gpu, SlotIndex job, Time alone, std::uint32_t over, Time now) override;

  // As it shows it of its first GPU.
  struct Gain {
    Time at = 0;
    double gain = 0;
    double error = 0;
    bool uncertain = false;
  };
  // Every kEach, and before anything is known nothing.
  static constexpr Time kEach = 10'000'000'000;
  const std::vector<Gain>& gains() const { return gains_; }
  // The control: what the turns of a single GPU, or else the few iterations of the last look, say by
  // themselves.
  const std::vector<double>& gains_of_one_gpu() const { return of_one_gpu_; }

 private:
  bool IsHere(int gpu) const { return static_cast<std::size_t>(gpu) < members_.size(); }
  void Look(Time now);
  std::optional<double> GainOfOneGpu(const deviceplugin::GpuView& view) const;

  deviceplugin::Ledger ledger_;
  std::vector<std::vector<std::shared_ptr<const arbiter::Member>>> members_;  // [gpu][job]
  std::vector<std::array<arbiter::StepCounter, kMaxSlots>> steps_;
  std::array<Time, kMaxSlots> rhythm_alone_ = {};  // of the first GPU
  std::array<Time, kMaxSlots> last_look_ = {};
  std::vector<Gain> gains_;
  std::vector<double> of_one_gpu_;
  Time next_ = kEach;
};

}  // namespace crossover::turn::test
