// One GPU with one stream and the kernels of a text image, for a benchmark program.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/driver/driver.h"

namespace crossover::bench {

class Gpu {
 public:
  // Opens device `ordinal` and loads `image` (text, or empty for none).
  Gpu(int ordinal, const std::string& image);

  CUstream stream() const { return stream_; }
  CUfunction Kernel(const char* name) const;
  // Launches one thread of `kernel` with `parameters`.
  void Launch(CUfunction kernel, void** parameters) const;
  void Synchronize() const;
  // Writes the time at which the stream comes here: what a stream sees, however late a host's thread is
  // woken.
  void Stamp(std::int64_t* where) const;
  // Makes `bytes` at `memory` usable by streams; the address that they use.
  static CUdeviceptr Register(void* memory, std::size_t bytes);

 private:
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace crossover::bench
