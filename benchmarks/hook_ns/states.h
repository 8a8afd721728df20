// Defines the states in which a program launches, as far as the library distinguishes them, and brings a
// program into each state.
#pragma once

#include <cuda.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "benchmarks/hook_ns/own_arbiter.h"

namespace crossover::bench {

struct State {
  std::string_view name;
  bool arbiter;  // an arbiter is there
  enum class Nccl { kNone, kLookedUp, kLinked, kLoaded } nccl;
  bool turn;  // the program holds a turn
};

// In every state but the first, the environment names a gang (CROSSOVER_GANG).
inline constexpr std::array<State, 8> kStates = {{
    {"inactive", false, State::Nccl::kNone, false},
    {"unheard", false, State::Nccl::kNone, false},  // no arbiter answers
    {"no_nccl", true, State::Nccl::kNone, false},   // the arbiter observes it
    // NCCL's kernels are in the program, but the program does not call NCCL.
    {"linked_unused", true, State::Nccl::kLookedUp, false},
    {"linked", true, State::Nccl::kLinked, false},
    {"loaded", true, State::Nccl::kLoaded, false},
    {"gated_linked", true, State::Nccl::kLinked, true},
    {"gated", true, State::Nccl::kLoaded, true},
}};

// Runs a program in one state: all launches after the constructor are in that state.
class Program {
 public:
  static constexpr std::size_t kKernels = 64;

  // Brings the program into `state`. Throws std::runtime_error, with a text that names the state, if that
  // fails. REQUIRES: `state` outlives this object.
  explicit Program(const State& state);

  // Throws std::runtime_error if the program is no longer in the state.
  void Check() const;

  const std::array<CUfunction, kKernels>& kernels() const { return kernels_; }
  CUstream stream() const { return compute_; }

 private:
  void Launch();
  void Collective(unsigned size);
  void Iteration();
  void OpenNccl();
  void LookUpNccl();
  void Until(std::uint32_t phase);

  const State& state_;
  std::optional<OwnArbiter> arbiter_;
  std::array<CUfunction, kKernels> kernels_{};
  CUstream compute_ = nullptr, side_ = nullptr;
  CUevent event_ = nullptr;
  CUfunction nccl_kernel_ = nullptr;
  void* communicator_ = nullptr;
  void* all_reduce_ = nullptr;
  std::size_t launched_ = 0;
  std::uint32_t turn_ = 0;
};

}  // namespace crossover::bench
