// When the GPU came to each collective of a communicator and when its data had moved, as JSON lines:
// SIMGPU_NCCL_TIMES=FILE. What a job does between two collectives can be told from it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "simgpu/nccl/run.h"

namespace simgpu::nccl {

class Times {
 public:
  explicit Times(std::FILE* file) : file_(file) {}
  ~Times() { std::fclose(file_); }
  Times(const Times&) = delete;
  Times& operator=(const Times&) = delete;

  // The kernel of task `number` runs. Any thread.
  void Begin(std::uint32_t number);
  // A ring collective's data has moved. The engine's thread.
  void End(const Task& task);

 private:
  std::FILE* file_;
  std::array<std::atomic<std::int64_t>, 1024> begun_{};  // by number, more than can be under way
};

// Null where the environment names no file, or one that cannot be written.
std::unique_ptr<Times> TimesFile();

}  // namespace simgpu::nccl
