// Writes when the GPU came to each collective of a communicator and when its data had moved, as JSON lines:
// SIMGPU_NCCL_TIMES=FILE. They show what a job does between two collectives.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "simgpu/nccl/run.h"

namespace simgpu::nccl {

// A Times writes the times of one communicator to a file, which it owns.
class Times {
 public:
  explicit Times(std::FILE* file) : file_(file) {}
  ~Times() { std::fclose(file_); }
  Times(const Times&) = delete;
  Times& operator=(const Times&) = delete;

  // Says that the kernel of task `number` has begun. Any thread.
  void Begin(std::uint32_t number);
  // Says that the data of a ring collective has moved. Only the engine's thread calls it.
  void End(const Task& task);

 private:
  std::FILE* file_;
  std::array<std::atomic<std::int64_t>, 1024> begun_{};  // by number; more than can be under way
};

// Returns null if the environment names no file, or a file that cannot be written.
std::unique_ptr<Times> TimesFile();

}  // namespace simgpu::nccl
