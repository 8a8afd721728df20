// Makes arrays in device memory, which the Gpu frees. They throw Failure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "examples/trainer/gpu.h"

namespace crossover::trainer {

// Returns `count` zeros, and at least one.
template <typename T>
T* Zeroed(Gpu& gpu, std::size_t count) {
  return static_cast<T*>(gpu.Allocate(std::max<std::size_t>(count, 1) * sizeof(T)));
}

template <typename T>
T* Copied(Gpu& gpu, const std::vector<T>& values) {
  T* const memory = Zeroed<T>(gpu, values.size());
  gpu.Upload(memory, values.data(), values.size() * sizeof(T));
  return memory;
}

}  // namespace crossover::trainer
