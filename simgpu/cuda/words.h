// Reads, writes and awaits words of memory, as a stream's memory operations do. Any thread may call these
// functions.
#pragma once

#include <cstdint>

#include "simgpu/cuda/api.h"

namespace simgpu {

// A WordCondition is what a wait waits for: the word at `address`, of 64 bits if `wide`, stands to `wanted`
// as `flags` (CU_STREAM_WAIT_VALUE_*) says.
struct WordCondition {
  CUdeviceptr address = 0;
  std::uint64_t wanted = 0;
  unsigned flags = CU_STREAM_WAIT_VALUE_GEQ;
  bool wide = false;
};

// Looks once. Returns true if the word satisfies the condition.
bool Satisfied(const WordCondition& condition);
// Blocks until the word satisfies the condition, or the contexts are lost. Returns true if it had to wait.
bool WaitWord(const WordCondition& condition);
// If the machine has a time of a hand-over: blocks until that has passed since a stream wrote the present
// value of the word, or since now if that is not known. Returns true if it blocked.
bool EndHandover(const WordCondition& condition);

// Writes the word and wakes the threads that wait for it.
void StoreWord(CUdeviceptr address, std::uint64_t value, bool wide);
// Writes the word and wakes the threads that wait for it, `delay_us` later. Delayed stores stay in order.
// They are lost if the process ends before.
void StoreWordLater(CUdeviceptr address, std::uint64_t value, bool wide, long delay_us);

}  // namespace simgpu
