#include "benchmarks/hook_ns/states.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "sidecar/hooks/nccl_types.h"

namespace crossover::bench {
namespace {

using namespace std::chrono_literals;

// The library needs fewer launches than this to find out that NCCL is not called, and which streams
// compute.
constexpr int kManyLaunches = 10'000;
constexpr auto kPatience = 20s;

std::string SocketPath() {
  const char* path = std::getenv("CROSSOVER_SOCKET");
  if (path == nullptr) throw std::runtime_error("CROSSOVER_SOCKET is not set: expected a path to listen at");
  return path;
}

}  // namespace

Program::Program(const State& state) : state_(state) {
  if (state.arbiter) arbiter_.emplace(SocketPath());
  cuInit(0);
  cuStreamCreate(&compute_, CU_STREAM_NON_BLOCKING);
  cuStreamCreate(&side_, CU_STREAM_NON_BLOCKING);
  cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING);
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const std::string name = "gradient" + std::to_string(i);
    if (cuModuleGetFunction(&kernels_[i], nullptr, name.c_str()) != CUDA_SUCCESS)
      throw std::runtime_error(name);
  }
  if (state.nccl == State::Nccl::kLoaded) OpenNccl();
  if (state.nccl == State::Nccl::kLookedUp || state.nccl == State::Nccl::kLinked) LookUpNccl();
  if (state.arbiter) {
    Until(CROSSOVER_PHASE_LOCKED);
    if (state.turn) {
      arbiter_->Ask(CROSSOVER_MODE_GATE);
      Until(CROSSOVER_PHASE_TAKING);
    }
  }
  for (int i = 0; i < kManyLaunches; ++i) Launch();
  if (state.turn) turn_ = arbiter_->turn_held();
  Check();
}

void Program::Check() const {
  const auto expect = [this](const char* what, std::uint32_t expected, std::uint32_t got) {
    if (expected == got) return;
    throw std::runtime_error(std::string(state_.name) + ": " + what + ": expected " +
                             std::to_string(expected) + ", got " + std::to_string(got));
  };
  if (!state_.arbiter) return;
  expect("phase", state_.turn ? CROSSOVER_PHASE_TAKING : CROSSOVER_PHASE_LOCKED, arbiter_->phase());
  expect("turn held", turn_, arbiter_->turn_held());
  expect("whether a turn is held", state_.turn, turn_ != 0);
}

// Runs iterations, or only launches, until the library reports the phase `phase`. Throws std::runtime_error
// if this takes longer than kPatience.
void Program::Until(std::uint32_t phase) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (arbiter_->phase() != phase ||
         (state_.turn && phase == CROSSOVER_PHASE_TAKING && arbiter_->turn_held() == 0)) {
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error(std::string(state_.name) + ": after " + std::to_string(launched_) +
                               " launches: expected phase " + std::to_string(phase) + ", got " +
                               std::to_string(arbiter_->phase()));
    }
    if (communicator_ != nullptr || (state_.nccl == State::Nccl::kLinked)) {
      Iteration();
    } else {
      Launch();
    }
  }
}

void Program::Launch() {
  cuLaunchKernel(kernels_[launched_++ % kernels_.size()], 1, 1, 1, 1, 1, 1, 0, compute_, nullptr, nullptr);
}

void Program::Collective(unsigned size) {
  if (nccl_kernel_ != nullptr) {
    cuLaunchKernel(nccl_kernel_, size, 1, 1, 1, 1, 1, 0, side_, nullptr, nullptr);
    cuEventRecord(event_, side_);  // as NCCL does itself
    return;
  }
  const auto all_reduce = reinterpret_cast<hooks::PFN_ncclReduction>(all_reduce_);
  all_reduce(nullptr, nullptr, size, 0, 0, static_cast<hooks::NcclComm>(communicator_), side_);
}

// Runs one iteration with two buckets. The first bucket overlaps compute. Then the compute stream waits for
// both.
void Program::Iteration() {
  Launch();
  Launch();
  Collective(1);
  Launch();
  Collective(2);
  cuEventRecord(event_, side_);
  cuStreamWaitEvent(compute_, event_, 0);
  Launch();
}

void Program::OpenNccl() {
  void* nccl = ::dlopen("libnccl.so.2", RTLD_NOW);
  if (nccl == nullptr) throw std::runtime_error(::dlerror());
  const auto init = reinterpret_cast<hooks::PFN_ncclCommInitRank>(::dlsym(nccl, "ncclCommInitRank"));
  all_reduce_ = ::dlsym(nccl, "ncclAllReduce");
  hooks::NcclComm communicator = nullptr;
  if (init == nullptr || all_reduce_ == nullptr || init(&communicator, 2, hooks::NcclUniqueId{}, 0) != 0) {
    throw std::runtime_error("libnccl.so.2 makes no communicator");
  }
  communicator_ = communicator;
}

// Looks up a kernel of NCCL, as the CUDA runtime does for the kernels of an archive that is linked into the
// program.
void Program::LookUpNccl() {
  CUfunction kernel = nullptr;
  if (cuModuleGetFunction(&kernel, nullptr, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") != CUDA_SUCCESS) {
    throw std::runtime_error("no kernel of NCCL's");
  }
  if (state_.nccl == State::Nccl::kLinked) nccl_kernel_ = kernel;
}

}  // namespace crossover::bench
