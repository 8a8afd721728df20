// The states in which a program launches, as far as the library tells them apart, and how a program gets into
// each.
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
  bool arbiter;  // one is there
  enum class Nccl { kNone, kLookedUp, kLinked, kLoaded } nccl;
  bool turn;  // a turn is held
};

// In each but the first the environment names a gang (CROSSOVER_GANG).
inline constexpr std::array<State, 8> kStates = {{
    {"inactive", false, State::Nccl::kNone, false},
    {"unheard", false, State::Nccl::kNone, false},  // no arbiter answers
    {"no_nccl", true, State::Nccl::kNone, false},   // watched
    {"linked_unused", true, State::Nccl::kLookedUp,
     false},  // NCCL's kernels are in the program, and no call of it
    {"linked", true, State::Nccl::kLinked, false},
    {"loaded", true, State::Nccl::kLoaded, false},
    {"gated_linked", true, State::Nccl::kLinked, true},
    {"gated", true, State::Nccl::kLoaded, true},
}};

// A program of which all launches from here on are in one state.
class Program {
 public:
  static constexpr std::size_t kKernels = 64;

  // Gets there. Throws std::runtime_error where it does not, in words that name the state.
  explicit Program(const State& state);

  // Throws where the program is in another state by now.
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
