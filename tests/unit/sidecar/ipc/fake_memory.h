// A FakeMemory is the device memory of one GPU, as a driver gives it out by descriptors. It lies in this
// process, so that tests read and write it. Its copies end at once, unless a test says otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "sidecar/gates/driver.h"

namespace crossover::test {

struct FakeMemory {
  static constexpr std::size_t kBytes = 16 * 1024;

  alignas(64) inline static std::uint32_t words[kBytes / 4];        // what a descriptor stands for
  alignas(64) inline static std::uint32_t other_words[kBytes / 4];  // another memory
  inline static std::uint32_t* imported = words;                    // the one that the next import maps
  inline static std::vector<std::string> calls;                     // those that map and unmap
  inline static std::atomic<bool> busy{false};  // the copies do not end; they are still carried out
  inline static std::atomic<bool> copies_work{true};
  inline static CUresult import_answer = CUDA_SUCCESS;
  inline static int gpu = 0;  // that has the memory; the context has GPU 0

  static void Clear();
  static gates::Driver Table();
};

}  // namespace crossover::test
